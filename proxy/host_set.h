/* Hosts, by patterns as an allow list has them: is this one among them? Ports do not
 * count. */
#ifndef PROXY_HOST_SET_H
#define PROXY_HOST_SET_H

#include "proxy/policy/pattern.h"

struct host_set;

/* On false the kernel gives no random bytes. */
bool host_set_new(struct host_set **out, struct err *e);
void host_set_free(struct host_set **s);

/* Before host_set_seal(). The pattern is not kept. */
void host_set_add(struct host_set *s, const struct pattern *p);
/* Once, when all is added. */
void host_set_seal(struct host_set *s);

/* After host_set_seal(). */
bool host_set_has(const struct host_set *s, const struct target *t);

#endif
