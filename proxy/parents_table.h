/* What a table of parents is made of: filled by parents_load.c and parents_env.c, read
 * by parents.c. */
#ifndef PROXY_PARENTS_TABLE_H
#define PROXY_PARENTS_TABLE_H

#include <stdatomic.h>

#include "proxy/host_set.h"
#include "proxy/no_proxy.h"
#include "proxy/parents.h"

enum { PARENTS_COUNT = PARENTS_MITM + 1 };

struct parents {
    atomic_uint refs;
    struct parent parent[PARENTS_COUNT]; /* by enum parents_which; PARENT_NONE: none */
    struct no_proxy *no_proxy;           /* NULL: none */
    struct host_set *mitm_hosts;         /* NULL: none */
};

/* What the environment says, into a table without parents so far. On false *e names the
 * variable. */
bool parents_read_environment(const struct parents_options *o, struct parents *p,
                              struct err *e);

/* Gives those of its parents that are reached over TLS what that takes. `ca_file`: whom
 * to believe beside the system's authorities; may be NULL. */
bool parents_take_contexts(struct parents *p, const char *ca_file, struct err *e);

#endif
