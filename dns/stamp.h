/* Whether a file changed since it was last read, for little: one stat() in a while. */
#ifndef DNS_STAMP_H
#define DNS_STAMP_H

#include <stdbool.h>
#include <sys/stat.h>

struct stamp {
    double looked; /* when stat() was called last; 0: never */
    bool there;    /* the file exists */
    dev_t dev;     /* with `ino`: also a file that was moved into its place */
    ino_t ino;
    off_t size;
    struct timespec mtime;
};

/* True at the first call, and when the file came, went or changed between this call and
 * the one that was true last. Looks at most once in `every` seconds. What is read after
 * this call is at least as new as what it saw. */
bool stamp_changed(struct stamp *s, const char *path, double now, double every);

#endif
