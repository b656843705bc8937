/* What /metrics says: the counts of all cores together, as text for Prometheus
 * (exposition format 0.0.4). All labels have closed sets of values. */
#ifndef PROXY_METRICS_H
#define PROXY_METRICS_H

#include "proxy/base/buf.h"
#include "proxy/counters.h"

/* What is known beside the counts of the cores. */
struct metrics {
    const struct counters *total; /* of all cores */
    unsigned workers;
    unsigned long generation; /* of the configuration in force in all of them */
    unsigned long reloaded, reload_failed;
    unsigned long audit_dropped;
    bool audit_failing; /* the last try to write was an error */
    bool ending;        /* nothing new is taken */
};

/* False when `out` is too small. */
bool metrics_write(const struct metrics *m, struct buf *out);

#endif
