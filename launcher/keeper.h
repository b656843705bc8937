/* A mount goes with the file that it covers. Outside, names change all the time: git
 * and editors write a new file and rename it over the old one, and the new one has no
 * mount. The keeper, a part of the supervisor, watches the folders of all mounts and
 * puts back what has lost its place. For a moment in between the new file is bare. */
#ifndef LAUNCHER_KEEPER_H
#define LAUNCHER_KEEPER_H

#include "launcher/masks.h"
#include "launcher/plan.h"

struct keeper {
    int notify; /* readable when keeper_renew() is due; -1 when nothing is to be kept */
    int host;   /* the root of the host's tree, from which copies are made; -1 so far */
    int *watches; /* of the folder that mount i is in; -1 when it cannot be watched */
    const struct plan *plan; /* borrowed */
};

/* To be called before the namespaces are made, so that nothing is missed and limits are
 * those of the user. On false *e has the remedy; keeper_done() is due either way. */
bool keeper_open(struct keeper *k, const struct plan *plan, struct err *e);
void keeper_done(struct keeper *k);

/* Needs the right to mount. On false the sandbox must end: something lies bare. */
bool keeper_renew(struct keeper *k, const struct masks *masks, struct err *e);

#endif
