/* Which client of the gateway somebody is. Pure: no session, no clock. */
#ifndef PROXY_GATEWAY_IDENTIFY_H
#define PROXY_GATEWAY_IDENTIFY_H

#include "proxy/gateway_config.h"
#include "proxy/identity.h"

/* Everything that a client names must hold. A token comes first: who sends one is the
 * client whose token it is, or nobody. Of the clients without a token, the name of a
 * certificate comes before an address, and of addresses the longest prefix counts.
 *
 * The user name of a login is the client's, or empty. `login` is NULL before anything
 * could be said. On IDENTITY_KNOWN *client is set. IDENTITY_LOGIN: nobody so far, and
 * some client of this gateway has a token, so that a login may help.
 *
 * *proof tells the token that was good, for identity_holds(); 0: there was none. */
enum identity gateway_identify(const struct config *c, const struct caller *who,
                               const struct login *login, size_t *client,
                               uint32_t *proof);

/* Whether somebody who was found to be that client once, by `proof`, would be found to
 * be it today. */
bool gateway_identity_holds(const struct client_settings *client,
                            const struct caller *who, uint32_t proof);

#endif
