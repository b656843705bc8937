#include "launcher/filelists.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* One entry on its way in. */
struct entry {
    struct filelists *all;
    enum access_effect effect;
    char source[128]; /* "filesystem.denyRead[2]" */
    char where[512];  /* "line 4: filesystem.denyRead[2]: \"x\"" */
};

static const char *const known[] = {"disabled",   "denyRead",  "allowRead",
                                    "allowWrite", "denyWrite", "allowGitConfig",
                                    NULL};

static const struct list {
    const char *key;
    enum access_effect effect;
} lists[] = {
    {"denyRead", ACCESS_DENY_READ},
    {"allowRead", ACCESS_ALLOW_READ},
    {"allowWrite", ACCESS_ALLOW_WRITE},
    {"denyWrite", ACCESS_DENY_WRITE},
};

static bool denies(enum access_effect effect)
{
    return effect == ACCESS_DENY_READ || effect == ACCESS_DENY_WRITE;
}

static void warn(const struct filelists *all, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void warn(const struct filelists *all, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (all->options->warn != NULL)
        all->options->warn(all->options->warn_owner, text);
}

static void doubt(const struct entry *entry, enum filelists_doubt_kind kind,
                  const char *path, size_t len)
{
    struct filelists *all = entry->all;
    struct filelists_doubt *d;

    if (all->doubt_count == all->doubt_room) {
        all->doubt_room = all->doubt_room > 0 ? all->doubt_room * 2 : 16;
        all->doubts = realloc(all->doubts, all->doubt_room * sizeof *all->doubts);
        if (all->doubts == NULL)
            abort();
    }
    d = &all->doubts[all->doubt_count++];
    *d = (struct filelists_doubt){kind, strndup(path, len > 0 ? len : 1),
                                  strdup(entry->where)};
    if (d->path == NULL || d->source == NULL)
        abort();
}

/* The text of a string or of {"path": ..., "literal": true}. */
static bool entry_text(const cJSON *node, const char **text, bool *literal,
                       struct err *e)
{
    static const char *const keys[] = {"path", "literal", NULL};
    const cJSON *bad, *path, *flag;

    *literal = false;
    *text = cJSON_GetStringValue(node);
    if (*text != NULL)
        return true;
    if (!cJSON_IsObject(node))
        return err_set(e, "expected a path or {\"path\": ..., \"literal\": true}");
    if (!json_only_keys(node, keys, &bad, e))
        return false;
    path = json_get(node, "path");
    flag = json_get(node, "literal");
    *text = cJSON_GetStringValue(path);
    if (*text == NULL)
        return err_set(e, "path: expected a path");
    if (flag != NULL && !cJSON_IsTrue(flag))
        return err_set(e, "literal: expected true; write the path alone for a pattern");
    *literal = flag != NULL;
    return true;
}

/* A pattern that ends in a slash and two stars is the folder before them; others need a
 * launcher that can watch names. */
static bool take_pattern(const struct entry *entry, char *text, struct err *e)
{
    size_t len = strlen(text);

    if (len > 3 && strcmp(text + len - 3, "/**") == 0)
        text[len - 3] = '\0';
    if (!path_is_pattern(text) || (entry->all->options->enforces & PLAN_PATTERN) != 0)
        return true;
    return err_set(e,
                   "the launcher %s cannot enforce patterns yet: name the files or "
                   "their folder, or write {\"path\": ..., \"literal\": true} when the "
                   "name has these characters",
                   entry->all->options->launcher);
}

static bool is_own_device(const char *path)
{
    static const char *const own[] = {
        "/dev/null", "/dev/zero",  "/dev/full",   "/dev/random", "/dev/urandom",
        "/dev/tty",  "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/shm",
    };

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(path, own[i]) == 0)
            return true;
    return false;
}

/* The sandbox's own trees. *skip: the rule holds without a mount. */
static bool check_own_trees(enum access_effect effect, const char *path, bool *skip,
                            struct err *e)
{
    static const char *const own[] = {"/proc", "/dev"};

    *skip = false;
    if (effect == ACCESS_ALLOW_WRITE && path_within(path, "/sys"))
        return err_set(e, "/sys is never writable inside");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (!path_within(path, own[i]))
            continue;
        *skip = effect == ACCESS_ALLOW_READ ||
                (effect == ACCESS_ALLOW_WRITE && is_own_device(path));
        if (!*skip)
            return err_set(e,
                           "the sandbox has a %s of its own, which rules cannot change",
                           own[i]);
    }
    return true;
}

static void add_links(const struct entry *entry, const struct place *place)
{
    for (size_t i = 0; i < place->link_count; i++) {
        const char *link = place->links[i];

        if (denies(entry->effect))
            access_add(entry->all->access, link, PATH_LINK, ACCESS_PIN, entry->source);
        else
            doubt(entry, DOUBT_LINK, link, (size_t)(strrchr(link, '/') - link));
    }
}

static void add_place(const struct entry *entry, const struct place *place)
{
    add_links(entry, place);
    if (place->kind == PATH_FOLDER || place->kind == PATH_FILE)
        access_add(entry->all->access, place->path, place->kind, entry->effect,
                   entry->source);
    else if (place->kind == PATH_ABSENT && denies(entry->effect))
        doubt(entry,
              entry->effect == ACCESS_DENY_READ ? DOUBT_ABSENT_READ
                                                : DOUBT_ABSENT_WRITE,
              place->path, place->present);
    else if (entry->effect == ACCESS_ALLOW_WRITE)
        warn(entry->all, "%s: %s", entry->where,
             place->kind == PATH_CLOSED
                 ? "out of your reach, so nothing is opened for writing"
                 : "does not exist, so nothing is opened for writing: make it first");
}

static bool add_text(const struct entry *entry, char *text, bool literal, struct err *e)
{
    struct filelists *all = entry->all;
    struct place place;
    bool skip, good;

    if (!literal && !take_pattern(entry, text, e))
        return false;
    if (!path_find(text, all->cwd, all->home, &place, e))
        return false;
    good = check_own_trees(entry->effect, place.path, &skip, e);
    if (good && !skip)
        add_place(entry, &place);
    place_done(&place);
    return good;
}

static bool add_entry(struct filelists *all, const cJSON *node, const struct list *list,
                      size_t index, struct err *e)
{
    struct entry entry = {.all = all, .effect = list->effect};
    const char *written;
    bool literal, good;
    char *text;

    snprintf(entry.source, sizeof entry.source, "filesystem.%s[%zu]", list->key, index);
    if (!entry_text(node, &written, &literal, e))
        return err_wrap(e, "line %u: %s", json_line(all->options->doc, node),
                        entry.source);
    snprintf(entry.where, sizeof entry.where, "line %u: %s: \"%.300s\"",
             json_line(all->options->doc, node), entry.source, written);
    if (all->access->rule_count > ACCESS_RULES_MAX)
        return err_set(e, "%s: more than %d paths", entry.where, ACCESS_RULES_MAX);
    text = strdup(written);
    if (text == NULL)
        abort();
    good = add_text(&entry, text, literal, e);
    free(text);
    return good || err_wrap(e, "%s", entry.where);
}

static bool add_list(struct filelists *all, const struct list *list, struct err *e)
{
    const cJSON *array = json_get(all->options->filesystem, list->key), *node;
    size_t index = 0;

    if (array == NULL)
        return true;
    if (!cJSON_IsArray(array))
        return err_set(e, "line %u: filesystem.%s: expected a list of paths",
                       json_line(all->options->doc, array), list->key);
    cJSON_ArrayForEach(node, array)
        if (!add_entry(all, node, list, index++, e))
            return false;
    return true;
}

static bool read_flag(const struct filelists *all, const char *key, bool *out,
                      struct err *e)
{
    const cJSON *node = json_get(all->options->filesystem, key);

    *out = cJSON_IsTrue(node);
    if (node != NULL && !cJSON_IsBool(node))
        return err_set(e, "line %u: filesystem.%s: expected true or false",
                       json_line(all->options->doc, node), key);
    return true;
}

bool filelists_load(struct filelists *all, struct err *e)
{
    const cJSON *tree = all->options->filesystem, *bad;

    if (tree == NULL)
        return true;
    if (!cJSON_IsObject(tree))
        return err_set(e, "line %u: filesystem: expected an object",
                       json_line(all->options->doc, tree));
    if (!json_only_keys(tree, known, &bad, e))
        return err_wrap(e, "line %u: filesystem", json_line(all->options->doc, bad));
    if (!read_flag(all, "disabled", &all->disabled, e) ||
        !read_flag(all, "allowGitConfig", &all->allow_git_config, e))
        return false;
    all->has_deny_read = json_get(tree, "denyRead") != NULL;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !all->disabled; i++)
        if (!add_list(all, &lists[i], e))
            return false;
    return true;
}

void filelists_done(struct filelists *all)
{
    for (size_t i = 0; i < all->doubt_count; i++) {
        free(all->doubts[i].path);
        free(all->doubts[i].source);
    }
    free(all->doubts);
    all->doubts = NULL;
    all->doubt_count = 0;
}
