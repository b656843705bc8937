/* The hosts that are reached without the parent proxy: NO_PROXY, as srt reads it.
 *
 *   *                                every host
 *   192.0.2.1, [2001:db8::1]         this address
 *   10.0.0.0/8                       the addresses of this range
 *   example.com                      this name and all below it; ".example.com" and
 *                                    "*.example.com" mean the same
 *
 * A port behind the host is ignored. Names are never resolved for this: a range is for
 * targets that are addresses. */
#ifndef PROXY_NO_PROXY_H
#define PROXY_NO_PROXY_H

#include "proxy/base/err.h"
#include "proxy/base/target.h"

struct no_proxy;

enum { NO_PROXY_NOTE_MAX = 160 };

bool no_proxy_new(struct no_proxy **out, struct err *e);
void no_proxy_free(struct no_proxy **n);

/* One entry. What of it does not count stands in `note`, "" when all of it does. On
 * false it is none of the above, and *e says so. */
bool no_proxy_add(struct no_proxy *n, struct str entry, char note[NO_PROXY_NOTE_MAX],
                  struct err *e);
/* Once, when all is added. */
void no_proxy_seal(struct no_proxy *n);

/* After no_proxy_seal(). */
bool no_proxy_has(const struct no_proxy *n, const struct target *t);

#endif
