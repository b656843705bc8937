/* Is an address this host's, or the core's own? */
#ifndef POLICY_HERE_H
#define POLICY_HERE_H

#include "proxy/policy/policy.h"

/* One of the interfaces' addresses, or of those that are routed here. */
bool here_has(const struct hostaddrs *host, const struct ip *ip);

/* Would a connection to this address and port come to the core itself? An unspecified
 * address is taken for loopback, as the kernel does; so is whatever a listener on an
 * unspecified address takes, of both families, since it may be a dual one. */
bool here_is_own(const struct hostaddrs *host, const struct ip *ip, unsigned port);

#endif
