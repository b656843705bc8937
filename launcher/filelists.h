/* The lists of `filesystem` in the settings, read into access rules. */
#ifndef LAUNCHER_FILELISTS_H
#define LAUNCHER_FILELISTS_H

#include "launcher/plan.h"

/* What can be told only when all rules are known: see plan.c. */
enum filelists_doubt_kind {
    DOUBT_ABSENT_READ = 0, /* denyRead of nothing: wrong when it could be made inside */
    DOUBT_ABSENT_WRITE,    /* denyWrite likewise */
    DOUBT_LINK,            /* an allow through a link: wrong when the command could turn
                            * the link elsewhere, for the next run */
};
struct filelists_doubt {
    enum filelists_doubt_kind kind;
    char *path;   /* the nearest folder that exists; or the folder of the link */
    char *source; /* "line 4: filesystem.denyRead[2]: \"x\"" */
};

struct filelists {
    const struct plan_options *options;
    const char *cwd, *home; /* borrowed */
    struct access_list *access;
    struct filelists_doubt *doubts;
    size_t doubt_count, doubt_room;
    bool disabled, allow_git_config, has_deny_read;
};

/* On false *e names line, key and entry. filelists_done() is due either way. */
bool filelists_load(struct filelists *lists, struct err *e);
void filelists_done(struct filelists *lists);

#endif
