/* The door of a gateway, in one worker: its listeners, and a session for each client of
 * the gateway file. Who comes in is nobody's until it is known whose it is; the door
 * itself lets nothing through. Without `clients` it is the one session of all. */
#ifndef PROXY_DOOR_H
#define PROXY_DOOR_H

#include "proxy/gateway_config.h"
#include "proxy/session.h"

struct door;

/* The core is borrowed and outlives it. Takes a reference of its own to `config`. */
struct door *door_new(struct core *core, struct config *config);
/* Closes listeners and connections at once. */
void door_free(struct door **d);

/* Accepts on `fd`, a listening stream socket that is entry `index` of the config's
 * listeners; one entry may have several. Takes it over in any case. */
bool door_listen(struct door *d, size_t index, int fd, struct err *e);
/* Stops accepting for good; connections go on. */
void door_rest(struct door *d);

/* As session_close_idle() and session_connections(), of all sessions. */
void door_close_idle(struct door *d, double silent);
size_t door_connections(const struct door *d);

/* From now on `config` holds, of which a reference is taken. Clients are the same when
 * their names are. Cut (policy-revoked) are tunnels that are no longer allowed, all of
 * a client that is gone, and those that would not be that client's any more: its token
 * was withdrawn, its address is out of range. Listeners are the same when they are
 * written alike; those that are gone are closed, new ones are the caller's to open:
 * door_listens() tells. */
void door_set_config(struct door *d, struct config *config);
bool door_listens(const struct door *d, size_t index);

#endif
