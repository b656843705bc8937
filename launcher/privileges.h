/* The rights of a process of the sandbox: none beyond those of any process of its user.
 */
#ifndef LAUNCHER_PRIVILEGES_H
#define LAUNCHER_PRIVILEGES_H

#include <sys/types.h>

#include "proxy/base/err.h"

/* Maps this user and group, and nobody else, into the new user namespace of the calling
 * process. */
bool privileges_map(uid_t uid, gid_t gid, struct err *e);

/* No capability is left, nor can any be had again: bounding set, ambient set, secure
 * bits, no_new_privs. */
bool privileges_drop(struct err *e);
/* The same, but that of mounting stays. */
bool privileges_drop_to_mounts(struct err *e);

/* Nobody of the same user may trace the calling process or read its memory. */
bool privileges_hide(struct err *e);

/* The calling process dies with its parent, which is `parent` (0: one that this process
 * cannot see). False when that has died already. */
bool privileges_die_with(pid_t parent);

#endif
