#include "launcher/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/env.h"
#include "launcher/filelists.h"
#include "launcher/gitdirs.h"
#include "launcher/kernelfs.h"
#include "proxy/base/fd.h"

static void warn(const struct plan_options *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void warn(const struct plan_options *o, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (o->warn != NULL)
        o->warn(o->warn_owner, text);
}

/* The current folder by its path, which must lead back to the same folder. */
static bool find_cwd(struct plan *p, struct err *e)
{
    struct stat here, there;

    p->cwd = getcwd(NULL, 0);
    if (p->cwd == NULL || p->cwd[0] != '/' || stat(".", &here) != 0 ||
        stat(p->cwd, &there) != 0)
        return err_sys(e, "the current folder has no path: change to one that exists");
    if (here.st_dev != there.st_dev || here.st_ino != there.st_ino)
        return err_set(e,
                       "the current folder is not what \"%s\" leads to by now: change "
                       "to it again",
                       p->cwd);
    p->cwd_dev = here.st_dev;
    p->cwd_ino = here.st_ino;
    return true;
}

static const char *find_home(char *const *environment)
{
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, "HOME=", 5) == 0 && (*environment)[5] != '\0')
            return *environment + 5;
    return NULL;
}

/* The home of the account, whatever HOME says: under cron, in a container or after su
 * it may be unset or another's. False when /etc/passwd has no such account. */
static bool account_home(uid_t uid, char out[PATH_MAX])
{
    FILE *file = fopen("/etc/passwd", "re");
    struct passwd *entry = NULL;

    if (file == NULL)
        return false;
    do
        entry = fgetpwent(file);
    while (entry != NULL && entry->pw_uid != uid);
    if (entry != NULL)
        snprintf(out, PATH_MAX, "%s", entry->pw_dir);
    fclose(file);
    return entry != NULL;
}

/* Of two rules on the same path the one that denies decides, and this one nobody wrote.
 */
static void warn_hidden(const struct plan *p, const struct plan_options *o,
                        const char *path)
{
    for (size_t i = 0; i < p->access.rule_count; i++) {
        const struct access_rule *r = &p->access.rules[i];

        if ((r->effect != ACCESS_ALLOW_READ && r->effect != ACCESS_ALLOW_WRITE) ||
            strcmp(r->path, path) != 0)
            continue;
        warn(o,
             "%s: \"%s\" stays hidden: it is a default secret, and that wins over an "
             "allow of the same path; to open it, list in filesystem.denyRead what is "
             "to be hidden instead ([] hides nothing)",
             r->source, path);
    }
}

static bool has_secret(const struct plan *p, const char *path)
{
    for (size_t i = 0; i < p->access.rule_count; i++)
        if (p->access.rules[i].effect == ACCESS_DENY_READ &&
            strcmp(p->access.rules[i].path, path) == 0)
            return true;
    return false;
}

static void add_secret(struct plan *p, const struct plan_options *o,
                       const struct place *place)
{
    if ((place->kind != PATH_FOLDER && place->kind != PATH_FILE) ||
        has_secret(p, place->path))
        return;
    warn_hidden(p, o, place->path);
    access_add(&p->access, place->path, place->kind, ACCESS_DENY_READ,
               "default: secrets");
}

static void add_secrets_of(struct plan *p, const struct plan_options *o,
                           const char *home)
{
    char path[PATH_MAX];
    struct place place;
    struct err ignored;

    for (const char *const *name = mandatory_secrets; *name != NULL; name++) {
        if (home == NULL ||
            snprintf(path, sizeof path, "%s/%s", home, *name) >= PATH_MAX ||
            !path_find(path, p->cwd, NULL, &place, &ignored))
            continue;
        add_secret(p, o, &place);
        place_done(&place);
    }
}

static void add_secrets(struct plan *p, const struct plan_options *o, const char *home)
{
    char own[PATH_MAX];

    add_secrets_of(p, o, home);
    if (account_home(p->uid, own) && own[0] == '/')
        add_secrets_of(p, o, own);
}

/* ssh reads /etc/ssh/ssh_config.d and refuses files of somebody else than root and the
 * user; inside, with one mapped id, root's show as nobody's. */
static void add_ssh_config(struct plan *p)
{
    struct place place;
    struct err ignored;

    if (p->uid == 0 || !path_find("/etc/ssh/ssh_config.d", "/", NULL, &place, &ignored))
        return;
    if (place.kind == PATH_FOLDER)
        access_add(&p->access, place.path, PATH_FOLDER, ACCESS_EMPTY,
                   "ssh refuses root's files where root is not mapped");
    place_done(&place);
}

/* An earlier command could have made the link, and would have chosen the file that is
 * written to. */
static bool check_link(const struct plan *p, const struct plan_guarded *g,
                       const char *link, struct err *e)
{
    const char *slash = strrchr(link, '/');
    char folder[PATH_MAX];

    snprintf(folder, sizeof folder, "%.*s", slash > link ? (int)(slash - link) : 1,
             link);
    if (!g->written || access_at(&p->access, folder) != ACCESS_WRITE)
        return true;
    return err_set(e,
                   "%s (\"%s\") leads through the link \"%s\", in a folder where "
                   "commands may write and so may have made it: name the file itself",
                   g->what, g->path, link);
}

static bool check_links(const struct plan *p, const struct plan_guarded *g,
                        const struct place *place, struct err *e)
{
    for (size_t i = 0; i < place->link_count; i++)
        if (!check_link(p, g, place->links[i], e))
            return false;
    return true;
}

/* What exists is kept. What does not must not come into being inside. */
static bool guard(struct plan *p, const struct plan_guarded *g, bool *shielded,
                  struct err *e)
{
    struct place place;
    bool bad = false;

    if (!path_find(g->path, p->cwd, NULL, &place, e))
        return err_wrap(e, "%s (\"%s\")", g->what, g->path);
    if (!check_links(p, g, &place, e)) {
        place_done(&place);
        return false;
    }
    for (size_t i = 0; i < place.link_count; i++)
        access_add(&p->access, place.links[i], PATH_LINK, ACCESS_PIN, g->what);
    if (place.kind == PATH_FOLDER || place.kind == PATH_FILE) {
        access_add(&p->access, place.path, place.kind, ACCESS_KEEP, g->what);
        *shielded = *shielded || g->shields_later;
    } else if (place.kind == PATH_ABSENT && !(*shielded && g->shields_later)) {
        place.path[place.present] = '\0';
        bad =
            access_at(&p->access, place.present > 0 ? place.path : "/") == ACCESS_WRITE;
    }
    if (bad)
        err_set(e,
                "\"%s\" would be writable, so the command could make \"%s\" (%s) and "
                "with it the rules of the next run: make that file first (its text may "
                "be {}), or allow writing only to folders beside it",
                place.path, g->path, g->what);
    place_done(&place);
    return !bad;
}

static bool add_guarded(struct plan *p, const struct plan_options *o, struct err *e)
{
    bool shielded = false;

    for (size_t i = 0; i < o->guarded_count; i++)
        if (!guard(p, &o->guarded[i], &shielded, e))
            return false;
    return true;
}

/* All folders where a writable tree begins. They are found in the compiled list, which
 * stays as it is while rules are added. */
static void add_mandatory(struct plan *p, const struct filelists *lists,
                          const struct plan_options *o)
{
    struct mandatory_scan scan = {.list = &p->access,
                                  .allow_git_config = lists->allow_git_config};

    if (p->access.root == ACCESS_WRITE)
        mandatory_scan(&scan, "/");
    for (size_t i = 0; i < p->access.mount_count; i++) {
        const struct access_mount *m = &p->access.mounts[i];

        if (m->access != ACCESS_WRITE || m->pin || m->kind != PATH_FOLDER)
            continue;
        gitdirs_allow(&scan, m->path);
        mandatory_scan(&scan, m->path);
    }
    if (access_at(&p->access, p->cwd) == ACCESS_WRITE) {
        mandatory_scan(&scan, p->cwd);
        p->absent_count = mandatory_absent(p->cwd, lists->allow_git_config, p->absent);
    }
    if (scan.exhausted)
        warn(o,
             "only the first %d folders of the writable trees were searched for "
             "files that must stay as they are; allow writing to less to have all "
             "searched",
             MANDATORY_FOLDERS_MAX);
}

static bool settle_doubt(const struct plan *p, const struct filelists_doubt *d,
                         const struct plan_options *o, struct err *e)
{
    bool writable =
        access_at(&p->access, d->path[0] != '\0' ? d->path : "/") == ACCESS_WRITE;

    if (writable && d->kind == DOUBT_LINK)
        return err_set(e,
                       "%s: leads through a link in \"%s\", which is writable, so the "
                       "command could turn it elsewhere: name the folder itself",
                       d->source, d->path);
    if (writable && (o->enforces & PLAN_ABSENT) == 0)
        return err_set(e,
                       "%s: does not exist, and the launcher %s cannot keep it from "
                       "being made in \"%s\" yet: make it first, or take the rule out",
                       d->source, o->launcher, d->path);
    if (d->kind == DOUBT_ABSENT_READ)
        warn(o,
             "%s: does not exist; the command cannot make it, but if somebody else "
             "does while it runs, it is readable",
             d->source);
    return true;
}

static bool check_cwd(const struct plan *p, struct err *e)
{
    const struct access_mount *m = access_decider(&p->access, p->cwd);

    if (access_at(&p->access, p->cwd) != ACCESS_NONE)
        return true;
    return err_set(e,
                   "%s hides the current folder, \"%s\": add it to "
                   "filesystem.allowRead, or run from another folder",
                   m->source, p->cwd);
}

static bool has_writable(const struct plan *p)
{
    for (size_t i = 0; i < p->access.mount_count; i++)
        if (p->access.mounts[i].access == ACCESS_WRITE)
            return true;
    return p->access.root == ACCESS_WRITE;
}

static void find_terminal(struct plan *p)
{
    autofd int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

    p->own_group = tty < 0;
}

static bool load_access(struct plan *p, struct filelists *lists,
                        const struct plan_options *o, struct err *e)
{
    if (!filelists_load(lists, e))
        return false;
    if (lists->disabled)
        access_add(&p->access, "/", PATH_FOLDER, ACCESS_ALLOW_WRITE,
                   "filesystem.disabled");
    else if (!lists->has_deny_read)
        add_secrets(p, o, lists->home);
    add_ssh_config(p);
    if (!access_compile(&p->access, e) || !add_guarded(p, o, e))
        return false;
    if (!lists->disabled)
        add_mandatory(p, lists, o);
    if (has_writable(p) && !kernelfs_keep(&p->access, e))
        return false;
    if (!access_compile(&p->access, e) || !check_cwd(p, e))
        return false;
    for (size_t i = 0; i < lists->doubt_count; i++)
        if (!settle_doubt(p, &lists->doubts[i], o, e))
            return false;
    return true;
}

bool plan_load(const struct plan_options *o, struct plan *out, struct err *e)
{
    struct filelists lists = {.options = o, .access = &out->access};
    bool good;

    *out = (struct plan){.argv = o->argv,
                         .environment = o->environment,
                         .uid = geteuid(),
                         .gid = getegid()};
    access_init(&out->access);
    good = find_cwd(out, e);
    if (good) {
        lists.cwd = out->cwd;
        lists.home = find_home(o->environment);
        good = load_access(out, &lists, o, e);
    }
    filelists_done(&lists);
    if (!good) {
        plan_done(out);
        return false;
    }
    find_terminal(out);
    out->env = env_build(o->environment);
    return true;
}

void plan_done(struct plan *p)
{
    access_done(&p->access);
    env_free(&p->env);
    free(p->cwd);
    *p = (struct plan){0};
}

void plan_report_made(const struct plan *p, plan_warn_fn *fn, void *owner)
{
    char path[PATH_MAX], text[PATH_MAX + 128];
    struct stat st;

    for (size_t i = 0; i < p->absent_count; i++) {
        if (snprintf(path, sizeof path, "%s/%s", p->cwd, p->absent[i]) >= PATH_MAX ||
            lstat(path, &st) != 0)
            continue;
        snprintf(text, sizeof text,
                 "the command made \"%s\", which runs code later: look at it", path);
        fn(owner, text);
    }
}
