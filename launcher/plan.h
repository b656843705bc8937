/* What a sandbox is to be: the command, what it may read and write, its environment.
 * Worked out before anything is made, from the `filesystem` object of the settings and
 * from what Weir itself must keep. A launcher carries it out; --explain prints it. */
#ifndef LAUNCHER_PLAN_H
#define LAUNCHER_PLAN_H

#include <stdio.h>
#include <sys/types.h>

#include "launcher/access.h"
#include "launcher/mandatory.h"
#include "proxy/base/json.h"

/* Kinds of rules that not every launcher can enforce. */
enum plan_kind {
    PLAN_HIDE = 1 << 0,      /* denyRead of what exists */
    PLAN_READ_ONLY = 1 << 1, /* denyWrite of what exists, allowWrite */
    PLAN_KEEP = 1 << 2,      /* names that cannot be moved or replaced */
    PLAN_PATTERN = 1 << 3,   /* "**" and the like */
    PLAN_ABSENT = 1 << 4,    /* a deny for what does not exist yet */
};

/* What is doubtful but holds: one sentence each. */
typedef void plan_warn_fn(void *owner, const char *text);

/* A file of Weir's own that is never writable inside. */
struct plan_guarded {
    const char *path;   /* absolute, or from the current folder; it need not exist */
    const char *what;   /* "the settings in use" */
    bool shields_later; /* when it exists, those behind it in the list may be absent:
                         * the first default settings file that exists is the one */
    bool written;       /* by Weir: no link that a command can make may lead to it */
};

struct plan_options {
    const struct json_doc *doc; /* for line numbers; may be NULL */
    const cJSON *filesystem;    /* NULL: the defaults */
    char *const *argv;          /* the command; borrowed, outlives the plan */
    char *const *environment;   /* the caller's; borrowed, outlives the plan */
    const struct plan_guarded *guarded;
    size_t guarded_count;
    unsigned enforces; /* what the launcher can: enum plan_kind */
    const char *launcher;
    plan_warn_fn *warn;
    void *warn_owner;
};

struct plan {
    char *const *argv;
    char **env;
    char *const *environment; /* as it was */
    char *cwd;                /* canonical */
    dev_t cwd_dev;
    ino_t cwd_ino;
    uid_t uid;
    gid_t gid;
    bool own_group; /* there is no terminal: the command leads a process group */
    struct access_list access;
    const char *absent[MANDATORY_NAMES]; /* mandatory names that `cwd` has not */
    size_t absent_count;
};

/* On false *e names the rule, what is wrong with it, and the remedy, and *out holds
 * nothing. */
bool plan_load(const struct plan_options *options, struct plan *out, struct err *e);
void plan_done(struct plan *p);

/* For --explain: mounts, environment, system calls. */
void plan_print(const struct plan *p, FILE *out);

/* Warns of each of plan.absent that exists by now: the command made it. */
void plan_report_made(const struct plan *p, plan_warn_fn *warn, void *owner);

#endif
