/* See sites.h. Entries are the same when they are written alike; those on any free port
 * are, so each is matched once, in the order of the file, as door.c does. */
#include "proxy/sites.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/base/fd.h"

struct site {
    char *text;   /* as it is written */
    size_t index; /* of the entry in the config in force */
    size_t next;  /* in the one that is prepared; SIZE_MAX: it is not there */
    bool fresh;   /* was opened for that one */
    struct endpoint at;
};

struct sites {
    struct inherited *inherited; /* borrowed */
    bool started;                /* the first config is open */
    bool preparing;
    struct site list[SITES_MAX];
    size_t count;
};

static void close_site(struct site *site)
{
    endpoint_close(&site->at);
    free(site->text);
}

/* Closes those for which `gone` holds, and keeps the order of the others. */
static void drop(struct sites *s, bool (*gone)(const struct site *site))
{
    size_t kept = 0;

    for (size_t i = 0; i < s->count; i++) {
        if (gone(&s->list[i]))
            close_site(&s->list[i]);
        else
            s->list[kept++] = s->list[i];
    }
    s->count = kept;
}

static bool any(const struct site *site)
{
    (void)site;
    return true;
}

static bool is_fresh(const struct site *site)
{
    return site->fresh;
}

static bool is_unlisted(const struct site *site)
{
    return site->next == SIZE_MAX;
}

/* How many the config that is prepared has. */
static size_t listed(const struct sites *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->count; i++)
        n += !is_unlisted(&s->list[i]);
    return n;
}

static bool add(struct sites *s, size_t index, const char *text,
                const struct endpoint *at, struct err *e)
{
    struct site *site = &s->list[s->count];

    if (listed(s) == SESSION_LISTENERS_MAX)
        return err_set(e, "more than %d listening sockets", SESSION_LISTENERS_MAX);
    *site = (struct site){.index = SIZE_MAX, .next = index, .fresh = true, .at = *at};
    site->text = strdup(text);
    if (site->text == NULL)
        abort();
    s->count++;
    return true;
}

/* Takes over `fd`. */
static bool add_passed(struct sites *s, size_t index, const char *text, int fd,
                       struct err *e)
{
    struct endpoint at;

    return endpoint_adopt(fd, &at, e) &&
           (add(s, index, text, &at, e) || (endpoint_close(&at), false));
}

static bool add_inherited(struct sites *s, size_t index, const char *text,
                          struct err *e)
{
    int fd = inherited_next(s->inherited, STR(""));

    if (fd < 0)
        return err_set(e, "\"%s\": no socket was passed on by a service manager", text);
    for (; fd >= 0; fd = inherited_next(s->inherited, STR("")))
        if (!add_passed(s, index, text, fd, e))
            return err_wrap(e, "\"%s\"", text);
    return true;
}

/* Later on the number may be that of anything. */
static bool add_descriptor(struct sites *s, size_t index,
                           const struct listen_settings *listen, struct err *e)
{
    if (s->started)
        return err_set(e, "\"%s\": a descriptor can be taken at the start only",
                       listen->text);
    inherited_forget(s->inherited, listen->fd);
    return add_passed(s, index, listen->text, listen->fd, e) ||
           err_wrap(e, "\"%s\"", listen->text);
}

static bool open_site(struct sites *s, size_t index,
                      const struct listen_settings *listen, struct err *e)
{
    struct endpoint at;

    if (listen->kind == LISTEN_SYSTEMD)
        return add_inherited(s, index, listen->text, e);
    if (listen->kind == LISTEN_FD)
        return add_descriptor(s, index, listen, e);
    return endpoint_open(listen->text, &at, e) &&
           (add(s, index, listen->text, &at, e) || (endpoint_close(&at), false));
}

static bool is_passed(const struct listen_settings *listen)
{
    return listen->kind == LISTEN_FD;
}

/* Those that are open are told where they stand now; each entry is taken once, but one
 * may have several sockets. */
static void match(struct sites *s, const struct gateway_settings *to, bool *taken)
{
    for (size_t i = 0; i < s->count; i++) {
        struct site *site = &s->list[i];
        size_t j = 0;

        if (i > 0 && site->index == s->list[i - 1].index) {
            site->next = s->list[i - 1].next;
            continue;
        }
        while (j < to->listen_count &&
               (taken[j] || strcmp(site->text, to->listen[j].text) != 0))
            j++;
        site->next = j < to->listen_count ? j : SIZE_MAX;
        if (j < to->listen_count)
            taken[j] = true;
    }
}

static bool open_missing(struct sites *s, const struct gateway_settings *to,
                         const bool *taken, bool passed, struct err *e)
{
    for (size_t j = 0; j < to->listen_count; j++) {
        if (taken[j] || is_passed(&to->listen[j]) != passed)
            continue;
        if (!open_site(s, j, &to->listen[j], e))
            return gateway_settings_wrap_listen(to, j, e);
    }
    return true;
}

bool sites_prepare(struct sites *s, const struct config *config, struct err *e)
{
    const struct gateway_settings *to = &config->settings;
    bool taken[SESSION_LISTENERS_MAX] = {false};

    match(s, to, taken);
    s->preparing = true;
    /* What was passed on has its number already; what is opened could take it. */
    if (open_missing(s, to, taken, true, e) && open_missing(s, to, taken, false, e))
        return true;
    sites_cancel(s);
    return false;
}

/* By the index, since sockets of one entry must stand together. */
static int compare(const void *a, const void *b)
{
    const struct site *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

void sites_commit(struct sites *s)
{
    drop(s, is_unlisted);
    for (size_t i = 0; i < s->count; i++) {
        s->list[i].index = s->list[i].next;
        s->list[i].fresh = false;
    }
    qsort(s->list, s->count, sizeof *s->list, compare);
    s->preparing = false;
    s->started = true;
}

void sites_cancel(struct sites *s)
{
    drop(s, is_fresh);
    s->preparing = false;
}

bool sites_new(struct inherited *inherited, const struct config *config,
               struct sites **out, struct err *e)
{
    struct sites *s = calloc(1, sizeof *s);

    if (s == NULL)
        abort();
    s->inherited = inherited;
    if (!sites_prepare(s, config, e)) {
        sites_free(&s);
        return false;
    }
    sites_commit(s);
    *out = s;
    return true;
}

void sites_free(struct sites **s)
{
    if (*s == NULL)
        return;
    drop(*s, any);
    free(*s);
    *s = NULL;
}

static bool copy_one(const struct site *site, size_t index, struct opened *out,
                     struct err *e)
{
    out->index = index;
    out->fd = fcntl(site->at.fd, F_DUPFD_CLOEXEC, 0);
    return out->fd >= 0 || err_sys(e, "cannot copy a listening socket");
}

bool sites_copy(const struct sites *s, struct opened opened[SITES_MAX], size_t *count,
                struct err *e)
{
    *count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct site *site = &s->list[i];

        if (s->preparing && !site->fresh)
            continue;
        if (!copy_one(site, s->preparing ? site->next : site->index, &opened[*count],
                      e)) {
            while (*count > 0)
                fd_close(&opened[--*count].fd);
            return false;
        }
        ++*count;
    }
    return true;
}

const struct endpoint *sites_at(const struct sites *s, size_t i)
{
    return i < s->count ? &s->list[i].at : NULL;
}
