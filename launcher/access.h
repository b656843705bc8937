/* Who may read and write what: rules on paths in, a list of mounts out.
 *
 * Reading is open and writing closed until a rule says otherwise. For a path, the rule
 * with the longest path above it decides; of two on the same path, the one that denies.
 * ACCESS_KEEP is outside this contest: what lies below it is never writable. */
#ifndef LAUNCHER_ACCESS_H
#define LAUNCHER_ACCESS_H

#include "launcher/paths.h"

enum access { ACCESS_NONE = 0, ACCESS_READ, ACCESS_WRITE };

enum access_effect {
    ACCESS_DENY_READ = 0,
    ACCESS_DENY_WRITE,
    ACCESS_KEEP,
    ACCESS_EMPTY, /* a folder that shows as an empty one */
    ACCESS_ALLOW_READ,
    ACCESS_ALLOW_WRITE, /* opens reading too */
    ACCESS_PIN,         /* no say: the name itself cannot be moved or replaced */
};

struct access_rule {
    char *path; /* canonical */
    enum path_kind kind;
    enum access_effect effect;
    char *source; /* for people: "filesystem.denyRead[2]" */
};

/* One mount, in the order in which they are made: folders before what is in them. */
struct access_mount {
    const char *path; /* in the list */
    enum path_kind kind;
    enum access access;
    bool pin;     /* bound onto itself only so that its name stays */
    bool empty;   /* shown as an empty folder */
    bool passage; /* hidden, but something below it is not */
    long parent;  /* the mount that it lies in; -1 is the root */
    const char *source;
};

struct access_list {
    struct access_rule *rules; /* sorted by access_compile() */
    size_t rule_count, rule_room;
    struct access_mount *mounts;
    size_t mount_count, mount_room;
    enum access root; /* of "/" itself: READ, or WRITE */
};

enum { ACCESS_RULES_MAX = 100000 };

void access_init(struct access_list *l);
void access_done(struct access_list *l);

/* Copies both texts. */
void access_add(struct access_list *l, const char *path, enum path_kind kind,
                enum access_effect effect, const char *source);

/* Works out `mounts` anew from all rules. Rules may be added and this called again. On
 * false *e names the rule that cannot be had. */
bool access_compile(struct access_list *l, struct err *e);

/* What the last access_compile() says of a path. */
enum access access_at(const struct access_list *l, const char *path);
/* The mount that decides; NULL for the root. */
const struct access_mount *access_decider(const struct access_list *l,
                                          const char *path);

#endif
