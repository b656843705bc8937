/* The filter of system calls under which the command runs (seccomp_rules.h). */
#ifndef LAUNCHER_SECCOMP_H
#define LAUNCHER_SECCOMP_H

#include <linux/filter.h>

#include "proxy/base/err.h"

/* Made when Weir was built. */
extern const struct sock_filter seccomp_code[];
extern const unsigned short seccomp_code_len;

/* Needs no_new_privs. For this thread and all that come from it. */
bool seccomp_install(struct err *e);

#endif
