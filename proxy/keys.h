/* What the keys of a file are for: used, known from srt and without meaning here, or
 * not built yet. A key that is in no table is an error. */
#ifndef PROXY_KEYS_H
#define PROXY_KEYS_H

#include "proxy/base/json.h"
#include "proxy/policy/policy.h"

enum key_use {
    KEY_LATER =
        0, /* an error, unless it is empty, false or null: then it asks nothing */
    KEY_USED,
    KEY_NOTED, /* loads, and `note` is told */
    KEY_SILENT,
    KEY_ELSEWHERE, /* an error: it belongs to another kind of file, as `note` says */
};

struct key {
    const char *name; /* NULL ends a table */
    enum key_use use;
    const char *note;
};

/* A file as it is being read. */
struct keys_file {
    const char *path; /* stands in front of every message */
    const struct json_doc *doc;
    policy_warn_fn *warn; /* may be NULL */
    void *owner;
};

/* All keys of `object`, which is at `place` ("" for the file itself, "limits."). */
bool keys_check(const struct keys_file *file, const char *place, const cJSON *object,
                const struct key *table, struct err *e);

/* Puts "FILE: line 7" in front of the sentence in *e. Always false. */
bool keys_wrap(const struct keys_file *file, const cJSON *node, struct err *e);

/* The same, with the place between: "FILE: line 7: listen[2]: …". Always false. */
bool keys_wrong(const struct keys_file *file, const cJSON *node, struct err *e,
                const char *place, ...) __attribute__((format(printf, 4, 5)));

/* The text of a string node; NULL when it is none, or no node. */
const char *keys_text(const cJSON *node);

/* The path of a file that is named in this one: a relative path begins in the folder of
 * this file. For free(). */
char *keys_path(const struct keys_file *file, const char *path);

/* A list with at least one entry. When it is none, *e says that one of `what` is
 * expected at `place`. */
bool keys_is_list(const struct keys_file *file, const cJSON *node, const char *place,
                  const char *what, struct err *e);

/* "FILE: line 7: place: what", to the one who is warned. */
void keys_warn(const struct keys_file *file, const cJSON *node, const char *place,
               const char *what);

#endif
