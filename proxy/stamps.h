/* Whether files were changed or replaced since they were read: by what the file system
 * says of them, asked from time to time. A file that is just being written is not told
 * of before it has come to rest. */
#ifndef PROXY_STAMPS_H
#define PROXY_STAMPS_H

#include <stdbool.h>
#include <stddef.h>

struct stamps;

/* Watches nothing yet. */
struct stamps *stamps_new(void);
void stamps_free(struct stamps **s);

/* From now on these, which are copied; NULL ends them. One that is watched already
 * stays as it is known; a path that leads nowhere is watched too. */
void stamps_set(struct stamps *s, const char *const *paths);
/* What is there now counts as read, so this comes before the reading. */
void stamps_mark(struct stamps *s);

/* True once for each change: when something differs from what was read, and from the
 * last look on nothing has. */
bool stamps_look(struct stamps *s);

#endif
