/* Files that run code later, outside the sandbox, when somebody writes to them:
 * start-up files of shells, hooks of git, tasks of editors. Those that exist in a
 * writable tree are never writable inside. */
#ifndef LAUNCHER_MANDATORY_H
#define LAUNCHER_MANDATORY_H

#include "launcher/access.h"

enum {
    MANDATORY_DEPTH = 3,           /* levels below the start that are looked through */
    MANDATORY_FOLDERS_MAX = 20000, /* looked into in all; then a warning */
    MANDATORY_NAMES = 16,
};

struct mandatory_scan {
    struct access_list *list; /* gets the rules */
    const char *home;
    bool allow_git_config;
    size_t folders; /* looked into so far */
    bool exhausted; /* MANDATORY_FOLDERS_MAX was reached: *not* all was seen */
};

/* Adds a rule for each of the names at and below `folder`, which is canonical. Links
 * are followed to what they mean, and kept; the walk itself follows none. */
void mandatory_scan(struct mandatory_scan *scan, const char *folder);

/* For those who look for more such files: keeps `path`, canonical but perhaps a link,
 * and what it leads to. Nothing when it does not exist. */
void mandatory_keep(struct mandatory_scan *scan, const char *path);
/* Whether one more folder may be looked into; notes when not. */
bool mandatory_enter(struct mandatory_scan *scan);
/* A file of that name in a repository says what git executes. */
bool mandatory_is_git_config(const char *name);

/* Those of the names that `folder` does not have. Returns how many. */
size_t mandatory_absent(const char *folder, bool allow_git_config,
                        const char *names[MANDATORY_NAMES]);

/* What must not be read when the settings say nothing of reading: below HOME;
 * NULL-terminated. */
extern const char *const mandatory_secrets[];

#endif
