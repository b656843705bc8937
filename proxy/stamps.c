#include "proxy/stamps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What changes when a file is written or another one takes its place; all zero for one
 * that is not there. */
struct stamp {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec written, changed;
};

struct stamps {
    size_t count;
    struct watched {
        char *path;
        struct stamp read, seen;
    } * files;
};

static void take(const char *path, struct stamp *out)
{
    struct stat st;

    memset(out, 0, sizeof *out);
    if (stat(path, &st) != 0)
        return;
    out->dev = st.st_dev;
    out->ino = st.st_ino;
    out->size = st.st_size;
    out->written = st.st_mtim;
    out->changed = st.st_ctim;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool same(const struct stamp *a, const struct stamp *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
           same_time(&a->written, &b->written) && same_time(&a->changed, &b->changed);
}

struct stamps *stamps_new(void)
{
    struct stamps *s = calloc(1, sizeof *s);

    if (s == NULL)
        abort();
    return s;
}

static void drop_all(struct stamps *s)
{
    while (s->count > 0)
        free(s->files[--s->count].path);
    free(s->files);
    s->files = NULL;
}

void stamps_free(struct stamps **s)
{
    if (*s == NULL)
        return;
    drop_all(*s);
    free(*s);
    *s = NULL;
}

static const struct watched *find(const struct stamps *s, const char *path)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->files[i].path, path) == 0)
            return &s->files[i];
    return NULL;
}

static void watch(struct watched *file, const char *path, const struct watched *known)
{
    if (known == NULL) {
        take(path, &file->read);
        file->seen = file->read;
    } else {
        *file = *known;
    }
    file->path = strdup(path);
    if (file->path == NULL)
        abort();
}

void stamps_set(struct stamps *s, const char *const *paths)
{
    struct stamps fresh = {0};
    size_t count = 0;

    while (paths[count] != NULL)
        count++;
    fresh.files = calloc(count + 1, sizeof *fresh.files);
    if (fresh.files == NULL)
        abort();
    for (; fresh.count < count; fresh.count++)
        watch(&fresh.files[fresh.count], paths[fresh.count],
              find(s, paths[fresh.count]));
    drop_all(s);
    *s = fresh;
}

void stamps_mark(struct stamps *s)
{
    for (size_t i = 0; i < s->count; i++) {
        take(s->files[i].path, &s->files[i].seen);
        s->files[i].read = s->files[i].seen;
    }
}

bool stamps_look(struct stamps *s)
{
    bool changed = false, moving = false;

    for (size_t i = 0; i < s->count; i++) {
        struct stamp now;

        take(s->files[i].path, &now);
        moving = moving || !same(&now, &s->files[i].seen);
        changed = changed || !same(&now, &s->files[i].read);
        s->files[i].seen = now;
    }
    if (!changed || moving)
        return false;
    for (size_t i = 0; i < s->count; i++)
        s->files[i].read = s->files[i].seen;
    return true;
}
