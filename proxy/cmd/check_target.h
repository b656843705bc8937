/* A destination as a person writes it: host:port, a URL, a host alone. Only for asking
 * beforehand; what a client sends is read by the fronts, which are stricter. */
#ifndef CMD_CHECK_TARGET_H
#define CMD_CHECK_TARGET_H

#include "proxy/base/err.h"
#include "proxy/dial.h"

enum { CHECK_PORT_ASSUMED = 443 };

enum port_from {
    PORT_ASSUMED = 0, /* none was written: CHECK_PORT_ASSUMED */
    PORT_WRITTEN,
    PORT_OF_SCHEME,
};

/* On false *e says why the text is no target. The target's host is in the arena.
 * International names become A-labels, as every client makes them. *use is an exchange
 * for http:// alone: all else is asked for as a tunnel. */
bool check_target_parse(struct str text, struct arena *a, struct target *t,
                        enum port_from *from, enum dial_use *use, struct err *e);

#endif
