#include "launcher/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is still to be walked, and how far the walk has come. */
struct walk {
    char rest[2 * PATH_MAX];
    struct place *place;
};

static bool start_text(const char *text, const char *cwd, const char *home, char *rest,
                       size_t size, struct err *e)
{
    int n;

    if (text[0] == '\0')
        return err_set(e, "an empty path");
    if (text[0] == '~' && text[1] != '/' && text[1] != '\0')
        return err_set(e, "\"~user\" is not understood: write the folder itself");
    if (text[0] == '~' && home == NULL)
        return err_set(e, "\"~\" has no meaning here: HOME is not set");
    if (text[0] == '~')
        n = snprintf(rest, size, "%s%s", home, text + 1);
    else if (text[0] == '/')
        n = snprintf(rest, size, "%s", text);
    else
        n = snprintf(rest, size, "%s/%s", cwd, text);
    if (n >= PATH_MAX)
        return err_set(e, "a path of more than %d bytes", PATH_MAX);
    if (rest[0] != '/')
        return err_set(e, "HOME is \"%s\", which is no absolute path", home);
    return true;
}

/* Takes the next component off the front; false at the end. */
static bool next_name(char *rest, char name[NAME_MAX + 1], struct err *e,
                      bool *too_long)
{
    size_t skip = strspn(rest, "/"), len = strcspn(rest + skip, "/");

    *too_long = len > NAME_MAX;
    if (*too_long)
        return err_set(e, "a name of more than %d bytes", NAME_MAX);
    if (len == 0)
        return false;
    memcpy(name, rest + skip, len);
    name[len] = '\0';
    memmove(rest, rest + skip + len, strlen(rest + skip + len) + 1);
    return true;
}

static void step_up(char *path)
{
    char *slash = strrchr(path, '/');

    *slash = '\0';
}

static bool append(char *path, const char *name, struct err *e)
{
    size_t len = strlen(path);

    if (len + strlen(name) + 2 > PATH_MAX)
        return err_set(e, "leads to a path of more than %d bytes", PATH_MAX);
    snprintf(path + len, PATH_MAX - len, "/%s", name);
    return true;
}

/* `path` is a link: what it holds goes in front of the rest. */
static bool follow(struct walk *w, struct err *e)
{
    struct place *p = w->place;
    char held[PATH_MAX];
    ssize_t len = readlink(p->path, held, sizeof held - 1);
    size_t rest = strlen(w->rest);

    if (len < 0)
        return err_sys(e, "cannot read the link \"%s\"", p->path);
    if (p->link_count == PATH_LINKS_MAX)
        return err_set(e, "more than %d symbolic links", PATH_LINKS_MAX);
    if ((size_t)len + rest + 2 > sizeof w->rest)
        return err_set(e, "leads to a path of more than %d bytes", PATH_MAX);
    p->links[p->link_count] = strdup(p->path);
    if (p->links[p->link_count++] == NULL)
        abort();
    memmove(w->rest + len + 1, w->rest, rest + 1);
    memcpy(w->rest, held, (size_t)len);
    w->rest[len] = '/';
    if (held[0] == '/')
        p->path[0] = '\0';
    else
        step_up(p->path);
    return true;
}

/* Nothing exists from here on: the rest is taken as it is written. */
static bool take_rest(struct walk *w, size_t present, struct err *e)
{
    char name[NAME_MAX + 1];
    bool too_long;

    w->place->present = present;
    while (next_name(w->rest, name, e, &too_long)) {
        if (strcmp(name, "..") == 0)
            return err_set(e, "\"..\" behind something that does not exist");
        if (strcmp(name, ".") != 0 && !append(w->place->path, name, e))
            return false;
    }
    return !too_long;
}

static bool ends_walk(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES;
}

/* One component more; *over when the walk is at its end. */
static bool step_into(struct walk *w, const char *name, bool *over, struct err *e)
{
    struct place *p = w->place;
    size_t before = strlen(p->path);
    struct stat st;

    if (!append(p->path, name, e))
        return false;
    if (lstat(p->path, &st) != 0) {
        if (!ends_walk(errno))
            return err_sys(e, "cannot look at \"%s\"", p->path);
        p->kind = errno == EACCES ? PATH_CLOSED : PATH_ABSENT;
        *over = true;
        return take_rest(w, before, e);
    }
    if (S_ISLNK(st.st_mode))
        return follow(w, e);
    p->kind = S_ISDIR(st.st_mode) ? PATH_FOLDER : PATH_FILE;
    return true;
}

static bool walk(struct walk *w, struct err *e)
{
    struct place *p = w->place;
    char name[NAME_MAX + 1];
    bool too_long, over = false;

    p->kind = PATH_FOLDER;
    while (next_name(w->rest, name, e, &too_long)) {
        if (strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "..") == 0) {
            if (p->path[0] != '\0')
                step_up(p->path);
            p->kind = PATH_FOLDER;
            continue;
        }
        if (!step_into(w, name, &over, e))
            return false;
        if (over)
            return true;
    }
    p->present = strlen(p->path);
    return !too_long;
}

bool path_find(const char *text, const char *cwd, const char *home, struct place *out,
               struct err *e)
{
    struct walk w = {.place = out};

    *out = (struct place){0};
    if (!start_text(text, cwd, home, w.rest, sizeof w.rest, e))
        return false;
    if (!walk(&w, e)) {
        place_done(out);
        return false;
    }
    if (out->path[0] == '\0')
        snprintf(out->path, sizeof out->path, "/");
    if (out->present == 0)
        out->present = 1;
    return true;
}

void place_done(struct place *p)
{
    for (size_t i = 0; i < p->link_count; i++)
        free(p->links[i]);
    p->link_count = 0;
}

bool path_within(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    if (len == 1)
        return true;
    return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

bool path_is_pattern(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}
