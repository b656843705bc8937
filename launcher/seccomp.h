/* The system calls that the command has not. Built with libseccomp, installed by us.
 *
 * A list of what is closed, not of what is open: programs use too much to list it, and
 * the walls are the namespaces. It closes what leads around them (sockets of other
 * families, new namespaces, mounts, handles, the terminal's input queue) and what
 * widens the kernel's face without need. A call that is newer than this file does not
 * exist. */
#ifndef LAUNCHER_SECCOMP_H
#define LAUNCHER_SECCOMP_H

#include <linux/filter.h>
#include <stdio.h>

#include "proxy/base/err.h"

struct seccomp_program {
    struct sock_fprog prog; /* .filter is for free() */
};

bool seccomp_build(struct seccomp_program *out, struct err *e);
void seccomp_done(struct seccomp_program *p);
/* Needs no_new_privs. For this thread and all that come from it. */
bool seccomp_install(const struct seccomp_program *p, struct err *e);

/* The tables, for people. */
void seccomp_print(FILE *out);

#endif
