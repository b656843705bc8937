/* The system calls that the command has not, as tables, and the program that libseccomp
 * makes of them. That takes about as long as two processes, so it is done when Weir is
 * built: launcher/generate/seccomp_program.c writes what seccomp.h installs.
 *
 * A list of what is closed, not of what is open: programs use too much to list it, and
 * the walls are the namespaces. It closes what leads around them (sockets of other
 * families, new namespaces, mounts, handles, the terminal's input queue) and what
 * widens the kernel's face without need. A call that is newer than this file does not
 * exist. */
#ifndef LAUNCHER_SECCOMP_RULES_H
#define LAUNCHER_SECCOMP_RULES_H

#include <linux/filter.h>
#include <stdio.h>

#include "proxy/base/err.h"

struct seccomp_program {
    struct sock_fprog prog; /* .filter is for free() */
};

bool seccomp_build(struct seccomp_program *out, struct err *e);
void seccomp_done(struct seccomp_program *p);

/* The tables, for people. */
void seccomp_print(FILE *out);

#endif
