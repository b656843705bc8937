#include "launcher/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that the rules on one path say, and what follows for it from those above. */
struct node {
    const struct access_rule *rule; /* the first of its path: path, kind, source */
    bool deny_read, deny_write, allow_read, allow_write;
    bool keep, empty, pin;
    enum access_effect strongest; /* of the rules: the lowest of the enum */
    const char *source;           /* of that one */
    bool read, write, kept;       /* with what is above */
    size_t region; /* length of the path where this writable tree begins */
};

/* The nodes above the one that is looked at. Paths have at most this many parts. */
enum { DEPTH_MAX = PATH_MAX / 2 };
struct above {
    struct node nodes[DEPTH_MAX];
    long mounts[DEPTH_MAX]; /* the mount that holds there */
    size_t count;
};

void access_init(struct access_list *l)
{
    *l = (struct access_list){.root = ACCESS_READ};
}

void access_done(struct access_list *l)
{
    for (size_t i = 0; i < l->rule_count; i++) {
        free(l->rules[i].path);
        free(l->rules[i].source);
    }
    free(l->rules);
    free(l->mounts);
    access_init(l);
}

void access_add(struct access_list *l, const char *path, enum path_kind kind,
                enum access_effect effect, const char *source)
{
    struct access_rule *r;

    if (l->rule_count == l->rule_room) {
        l->rule_room = l->rule_room > 0 ? l->rule_room * 2 : 64;
        l->rules = realloc(l->rules, l->rule_room * sizeof *l->rules);
        if (l->rules == NULL)
            abort();
    }
    r = &l->rules[l->rule_count++];
    *r = (struct access_rule){strdup(path), kind, effect, strdup(source)};
    if (r->path == NULL || r->source == NULL)
        abort();
}

/* "/" sorts before every other byte, so that a folder stands right in front of all that
 * is in it. */
static int rank(char c)
{
    if (c == '\0')
        return 0;
    return c == '/' ? 1 : (unsigned char)c + 1;
}

static int compare_paths(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return rank(*a) - rank(*b);
}

static int compare(const void *left, const void *right)
{
    const struct access_rule *a = left, *b = right;

    return compare_paths(a->path, b->path);
}

static void gather(struct node *n, const struct access_rule *r)
{
    switch (r->effect) {
    case ACCESS_DENY_READ:
        n->deny_read = true;
        break;
    case ACCESS_DENY_WRITE:
        n->deny_write = true;
        break;
    case ACCESS_KEEP:
        n->keep = true;
        break;
    case ACCESS_EMPTY:
        n->empty = true;
        break;
    case ACCESS_ALLOW_READ:
        n->allow_read = true;
        break;
    case ACCESS_ALLOW_WRITE:
        n->allow_write = true;
        break;
    case ACCESS_PIN:
        n->pin = true;
        break;
    }
    if (n->source == NULL || r->effect < n->strongest) {
        n->strongest = r->effect;
        n->source = r->source;
    }
}

/* All rules on the path of rule *at, which moves behind them. */
static struct node take_node(const struct access_list *l, size_t *at)
{
    struct node n = {.rule = &l->rules[*at]};

    for (; *at < l->rule_count && strcmp(l->rules[*at].path, n.rule->path) == 0; ++*at)
        gather(&n, &l->rules[*at]);
    return n;
}

static enum access node_access(const struct node *n)
{
    if (!n->read)
        return ACCESS_NONE;
    return n->write ? ACCESS_WRITE : ACCESS_READ;
}

/* Leaves on the stack only what is above `path`; the root always stays. */
static struct node *find_above(struct above *a, const char *path)
{
    while (a->count > 1 && !path_within(path, a->nodes[a->count - 1].rule->path))
        a->count--;
    return &a->nodes[a->count - 1];
}

static void inherit(struct node *n, const struct node *up)
{
    size_t len = strlen(n->rule->path);

    n->read = up->read;
    n->write = up->write;
    n->kept = up->kept || n->keep;
    if (n->deny_read)
        n->read = n->write = false;
    else if (n->allow_read || n->allow_write)
        n->read = true;
    if (n->deny_write)
        n->write = false;
    else if (n->allow_write && n->read)
        n->write = true;
    if (n->kept || n->empty)
        n->write = false;
    n->empty = n->empty && n->read;
    n->region = node_access(up) == ACCESS_WRITE ? up->region : len == 1 ? 0 : len;
}

static void start_above(struct above *a)
{
    static const struct access_rule root = {(char *)"/", PATH_FOLDER, ACCESS_PIN,
                                            (char *)"default"};

    a->count = 1;
    a->nodes[0] = (struct node){.rule = &root, .read = true, .source = root.source};
    a->mounts[0] = -1;
}

static void push(struct above *a, const struct node *n, long mount)
{
    if (a->count == DEPTH_MAX)
        abort();
    a->nodes[a->count] = *n;
    a->mounts[a->count++] = mount;
}

/* Every folder between the start of the writable tree and what is protected in it, so
 * that none of them can be moved away and another put in its place. */
static void pin_folders(struct access_list *l, const char *path, size_t region,
                        char last[PATH_MAX])
{
    char folder[PATH_MAX];
    const char *end = strrchr(path, '/');

    if ((size_t)(end - path) <= region)
        return;
    memcpy(folder, path, (size_t)(end - path));
    folder[end - path] = '\0';
    if (strcmp(folder, last) == 0)
        return;
    snprintf(last, PATH_MAX, "%s", folder);
    for (char *slash = folder + region; slash != NULL;) {
        slash = strchr(slash + 1, '/');
        if (slash != NULL)
            *slash = '\0';
        access_add(l, folder, PATH_FOLDER, ACCESS_PIN, "keeps the folders above it");
        if (slash != NULL)
            *slash = '/';
    }
}

/* Finds what is protected inside writable trees. The rules move in memory while pins
 * are added, so only those that were there are looked at, by index. */
static void add_pins(struct access_list *l, struct above *a)
{
    size_t count = l->rule_count, at = 0;
    struct access_list before = {.rules = malloc(count * sizeof *before.rules),
                                 .rule_count = count};
    char last[PATH_MAX] = "";

    if (count > 0 && before.rules == NULL)
        abort();
    if (count > 0)
        memcpy(before.rules, l->rules, count * sizeof *before.rules);
    start_above(a);
    while (at < count) {
        struct node n = take_node(&before, &at), *up = find_above(a, n.rule->path);

        inherit(&n, up);
        if (node_access(up) == ACCESS_WRITE &&
            (node_access(&n) != ACCESS_WRITE || n.pin || n.empty))
            pin_folders(l, n.rule->path, up->region, last);
        push(a, &n, -1);
    }
    free(before.rules);
}

static struct access_mount *new_mount(struct access_list *l)
{
    if (l->mount_count == l->mount_room) {
        l->mount_room = l->mount_room > 0 ? l->mount_room * 2 : 64;
        l->mounts = realloc(l->mounts, l->mount_room * sizeof *l->mounts);
        if (l->mounts == NULL)
            abort();
    }
    return &l->mounts[l->mount_count++];
}

/* A hidden folder must let through what is shown below it. */
static void open_passage(struct access_list *l, long at)
{
    for (; at >= 0; at = l->mounts[at].parent)
        if (l->mounts[at].access == ACCESS_NONE || l->mounts[at].empty)
            l->mounts[at].passage = true;
}

static void emit(struct access_list *l, struct above *a, struct node *n)
{
    struct node *up = find_above(a, n->rule->path);
    long mount = a->mounts[a->count - 1];
    enum access access;

    inherit(n, up);
    access = node_access(n);
    if (access != node_access(up) || n->empty ||
        (n->pin && node_access(up) == ACCESS_WRITE)) {
        struct access_mount *m = new_mount(l);

        open_passage(l, mount);
        *m = (struct access_mount){
            .path = n->rule->path,
            .kind = n->rule->kind,
            .access = access,
            .pin = n->pin && access == node_access(up),
            .empty = n->empty,
            .parent = mount,
            .source = n->source,
        };
        mount = (long)l->mount_count - 1;
    }
    push(a, n, mount);
}

static void sort_rules(struct access_list *l)
{
    /* Without rules there is no array, and qsort() must not be given a null pointer. */
    if (l->rule_count > 0)
        qsort(l->rules, l->rule_count, sizeof *l->rules, compare);
}

bool access_compile(struct access_list *l, struct err *e)
{
    struct above *a = malloc(sizeof *a);
    size_t at = 0;

    if (a == NULL)
        abort();
    l->mount_count = 0;
    l->root = ACCESS_READ;
    sort_rules(l);
    add_pins(l, a);
    sort_rules(l);
    start_above(a);
    while (at < l->rule_count) {
        struct node n = take_node(l, &at);

        if (strcmp(n.rule->path, "/") != 0) {
            emit(l, a, &n);
            continue;
        }
        if (n.deny_read || n.empty) {
            free(a);
            return err_set(e,
                           "%s: \"/\" cannot be hidden whole: name the folders in it",
                           n.source);
        }
        inherit(&n, &a->nodes[0]);
        l->root = node_access(&n);
        n.region = 0;
        a->nodes[0] = n;
    }
    free(a);
    return true;
}

/* The last mount that does not sort behind `path`; what is above the path is among that
 * mount and those above it. */
static long nearest(const struct access_list *l, const char *path)
{
    size_t low = 0, high = l->mount_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_paths(l->mounts[middle].path, path) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return (long)low - 1;
}

const struct access_mount *access_decider(const struct access_list *l, const char *path)
{
    long at = nearest(l, path);

    while (at >= 0 && !path_within(path, l->mounts[at].path))
        at = l->mounts[at].parent;
    return at >= 0 ? &l->mounts[at] : NULL;
}

enum access access_at(const struct access_list *l, const char *path)
{
    const struct access_mount *m = access_decider(l, path);

    return m != NULL ? m->access : l->root;
}
