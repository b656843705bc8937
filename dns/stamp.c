#include "dns/stamp.h"

static bool same(const struct stamp *s, const struct stat *st)
{
    return s->dev == st->st_dev && s->ino == st->st_ino && s->size == st->st_size &&
           s->mtime.tv_sec == st->st_mtim.tv_sec &&
           s->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

bool stamp_changed(struct stamp *s, const char *path, double now, double every)
{
    struct stat st = {0};
    bool first = s->looked == 0, there, changed;

    if (!first && now - s->looked < every)
        return false;
    there = stat(path, &st) == 0;
    changed = first || there != s->there || (there && !same(s, &st));
    *s = (struct stamp){now, there, st.st_dev, st.st_ino, st.st_size, st.st_mtim};
    return changed;
}
