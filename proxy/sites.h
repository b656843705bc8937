/* The sockets on which a gateway listens: what its file lists, opened, or passed on by
 * whoever started us. They are the main thread's; workers have copies of them, so one
 * is open until the last has closed it. */
#ifndef PROXY_SITES_H
#define PROXY_SITES_H

#include "proxy/endpoint.h"
#include "proxy/gateway_config.h"
#include "proxy/inherited.h"
#include "proxy/listener.h"
#include "proxy/worker.h"

struct sites;

/* Opens all. `inherited` is borrowed and outlives it. On false nothing is open, and *e
 * names file, line and entry. */
bool sites_new(struct inherited *inherited, const struct config *config,
               struct sites **out, struct err *e);
/* Closes them, and removes the files of Unix sockets that were made here. */
void sites_free(struct sites **s);

/* A reload, in two steps. First what `config` lists and is not open yet is opened, and
 * on false nothing has changed. Then what it does not list any more is closed; or, when
 * it came to nothing after all, what was opened. */
bool sites_prepare(struct sites *s, const struct config *config, struct err *e);
void sites_commit(struct sites *s);
void sites_cancel(struct sites *s);

/* In a reload those before it and those after it may be open together. */
enum { SITES_MAX = 2 * SESSION_LISTENERS_MAX };

/* Copies for one worker: of all, or, between sites_prepare() and its end, of those that
 * are new. They are the caller's. On false there are none. */
bool sites_copy(const struct sites *s, struct opened opened[SITES_MAX], size_t *count,
                struct err *e);

/* One of them; NULL behind the last. */
const struct endpoint *sites_at(const struct sites *s, size_t i);

#endif
