/* Where a path of the settings leads: written by a person, with "~", relative, through
 * symbolic links, perhaps to nothing. Found once, before the sandbox is made; from then
 * on only the canonical path is used, and it is opened without following links. */
#ifndef LAUNCHER_PATHS_H
#define LAUNCHER_PATHS_H

#include <limits.h>
#include <stddef.h>

#include "proxy/base/err.h"

enum { PATH_LINKS_MAX = 40 };

enum path_kind {
    PATH_ABSENT = 0,
    PATH_FOLDER,
    PATH_FILE,   /* whatever is no folder and no link: also sockets and devices */
    PATH_LINK,   /* only of what is asked for without following it */
    PATH_CLOSED, /* this user may not look there, so neither may the command */
};

struct place {
    enum path_kind kind;
    char path[PATH_MAX];         /* absolute, no link, no "." or ".." in it */
    size_t present;              /* the first so many bytes of `path` exist */
    char *links[PATH_LINKS_MAX]; /* canonical names of the links on the way */
    size_t link_count;
};

/* `cwd` is canonical; `home` NULL when there is none. On false *e says what is wrong
 * with the path, and *out holds nothing. */
bool path_find(const char *text, const char *cwd, const char *home, struct place *out,
               struct err *e);
void place_done(struct place *p);

/* `path` is `folder` or lies below it. Both canonical. */
bool path_within(const char *path, const char *folder);

/* Has characters that a pattern has. */
bool path_is_pattern(const char *text);

#endif
