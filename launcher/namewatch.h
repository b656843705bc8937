/* Tells when a name appears in a folder: when a file is made, linked or moved there. By
 * dnotify, since closing an inotify descriptor takes the kernel 10 ms and more, which
 * every short command would wait for; by inotify where dnotify is not there or folders
 * are many, since dnotify takes a descriptor for each. */
#ifndef LAUNCHER_NAMEWATCH_H
#define LAUNCHER_NAMEWATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "proxy/base/err.h"

/* More folders than this are for inotify. */
enum { NAMEWATCH_DESCRIPTORS = 128 };
#define NAMEWATCH_ALL ((size_t)-1)

struct namewatch {
    int fd; /* readable when namewatch_read() is due; -1 when not open */
    bool by_signal;
    int *watches; /* of folder i: descriptor or inotify's number; -1 for none */
    size_t count;
};

/* Folders go by numbers below `count`; none is watched yet. Blocks SIGIO and SIGRTMIN,
 * which must stay so: with dnotify they are what comes, and to this process only, not
 * to its children. On false *e names the limit; namewatch_done() is due either way. */
bool namewatch_open(struct namewatch *w, size_t count, struct err *e);
void namewatch_done(struct namewatch *w);

/* Watches a folder under a number. Done again, it watches what has the path by then.
 * One that is not there, or may not be listed, is left out: what was watched under the
 * number stays so. False, *e has the remedy: a limit. */
bool namewatch_set(struct namewatch *w, size_t folder, const char *path, struct err *e);

/* `folder` may be NAMEWATCH_ALL; `name` is NULL when it may be any. */
typedef void namewatch_fn(void *owner, size_t folder, const char *name);

/* Calls `fn` for what has come, from within. After that, namewatch_set() is due for the
 * folder, and a look at it: what came before that call may be told no more. */
void namewatch_read(struct namewatch *w, namewatch_fn *fn, void *owner);

#endif
