/* What stands in for what is hidden: folders and files that nobody may open, read-only,
 * on a small tmpfs that is itself mounted where nothing can reach it. */
#ifndef LAUNCHER_MASKS_H
#define LAUNCHER_MASKS_H

#include "launcher/access.h"

struct masks {
    int folder, file, empty; /* the originals; mounts are copies of them */
};

void masks_init(struct masks *m);
/* `cover` is a folder that the caller mounts something else over afterwards. */
bool masks_make(struct masks *m, int cover, struct err *e);
void masks_done(struct masks *m);

/* A detached mount that hides what is at mounts[at] of the list, a thing of this kind;
 * -1 with errno set. With `passage`, it has a mount point for every mount of the list
 * that lies in it. */
int masks_for(const struct masks *m, const struct access_list *list, size_t at,
              enum path_kind kind);

/* Puts an empty thing over `path`, when it exists. */
bool masks_hide(const struct masks *m, const char *path, struct err *e);

#endif
