/* A network namespace of the test's own, with loopback up and nothing else in it. */
#ifndef SUPPORT_PRIVATE_NET_H
#define SUPPORT_PRIVATE_NET_H

#include <stdbool.h>
#include <stddef.h>

/* For the whole process, before it has threads. As root directly, else through a user
 * namespace. False with the reason in `why` when this machine allows neither: main()
 * prints it and returns 77, which ctest shows as skipped. */
bool private_net_enter(char *why, size_t size);

/* Adds an address to loopback, or removes it: "198.51.100.7" or "2001:db8::7". */
bool private_net_address(const char *ip, bool add);

#endif
