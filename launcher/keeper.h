/* A mount goes with the file that it covers. Outside, names change all the time: git
 * and editors write a new file and rename it over the old one, and the new one has no
 * mount. The keeper, a part of the supervisor, watches the folders of all mounts and
 * puts back what has lost its place. For a moment in between the new file is bare. */
#ifndef LAUNCHER_KEEPER_H
#define LAUNCHER_KEEPER_H

#include "launcher/masks.h"
#include "launcher/namewatch.h"
#include "launcher/plan.h"

struct keeper {
    struct namewatch names; /* .fd: keeper_renew() is due; -1: nothing to be kept */
    int host;          /* the root of the host's tree, from which copies are made; -1 */
    size_t *folders;   /* of each mount: the number of the folder that it lies in */
    size_t *examples;  /* of each folder: a mount in it */
    bool *due, *stale; /* within keeper_renew(): mounts, folders */
    const struct plan *plan; /* borrowed */
};

void keeper_init(struct keeper *k, const struct plan *plan);
/* To be called before anything is mounted, so that nothing is missed, and in a mount
 * namespace of the caller's own: open folders would keep the user from unmounting what
 * they lie on. Goes to "/". On false *e has the remedy. */
bool keeper_start(struct keeper *k, struct err *e);
void keeper_done(struct keeper *k);

/* Needs the right to mount. On false the sandbox must end: something lies bare. */
bool keeper_renew(struct keeper *k, const struct masks *masks, struct err *e);

#endif
