/* What a gateway says of its own state, on /healthz and /readyz, in words. */
#ifndef PROXY_HEALTH_H
#define PROXY_HEALTH_H

#include <stdbool.h>

#include "proxy/base/buf.h"

/* What is known of it. */
struct health {
    double silence;     /* seconds for which a worker gives no sign of life */
    bool rests;         /* accepting had to rest, a moment ago */
    bool crowded;       /* clients were refused for want of descriptors, as well */
    bool audit_failing; /* its lines cannot be written */
    bool audit_refuses; /* and so requests are refused */
    bool reload_failed; /* what is in force is not what the files say */
    bool ending;        /* nothing new is taken */
};

/* False when a restart would help: something does not answer. What merely is not as it
 * should be, and may pass, is told, and no reason to end it. */
bool health_write(const struct health *h, struct buf *body);
/* False when clients should go elsewhere. */
bool health_write_ready(const struct health *h, struct buf *body);
bool health_is_alive(const struct health *h);

#endif
