/* The settings file of `weir run` and `weir check`: which keys there are, and who reads
 * what stands under them. Unknown keys are errors; keys of srt that mean nothing here
 * load with a note; keys that are not built yet are refused by name. Nothing is ever
 * ignored in silence. The gateway file is in gateway_settings.h. */
#ifndef PROXY_SETTINGS_H
#define PROXY_SETTINGS_H

#include "proxy/audit.h"
#include "proxy/base/json.h"
#include "proxy/policy/policy.h"

struct settings {
    char *path;                                      /* NULL: built-in defaults */
    struct json_doc *doc;                            /* NULL: built-in defaults */
    const cJSON *network, *filesystem, *credentials; /* NULL when absent; in doc */
};

/* `path` NULL: $XDG_CONFIG_HOME/weir/settings.json (~/.config when the variable is not
 * set), ~/.srt-settings.json, built-in defaults, the first that exists. A file that
 * exists and does not load is an error, never a fall-back: *e names file, line and key,
 * and so do the texts for `warn` (those of policy_load() have no file in front). */
bool settings_load(const char *path, policy_warn_fn *warn, void *owner,
                   struct settings *out, struct err *e);
/* The built-in defaults, whatever files there are. */
void settings_none(struct settings *out);
void settings_done(struct settings *s);

/* The two halves of it. The tree of a file, or of a text that stands for one; *doc is
 * taken over on success. */
bool settings_read(const char *path, struct json_doc **doc, struct err *e);
bool settings_from_doc(const char *path, struct json_doc **doc, policy_warn_fn *warn,
                       void *owner, struct settings *out, struct err *e);

/* ~/.srt-settings.json if it is there, for free(); else NULL. What is there and cannot
 * be read is there. */
char *settings_srt_file(void);

/* The default places, whether they exist or not, for protection inside the sandbox.
 * Absolute paths, for free(); fewer than 3 when HOME is not set. */
size_t settings_default_paths(char *paths[3]);

/* What a client may use up. The keys of `limits` in the gateway file have the same
 * names in camel case; proxy/limits.c says from where to where each may go. */
struct limits {
    unsigned connections;            /* 10000 */
    unsigned connections_per_client; /* 1000, by source address */
    unsigned head_bytes;        /* 16384; before the decision: 65536 with early data */
    unsigned early_bytes;       /* 65536 */
    double head_seconds;        /* 10: absolute, first byte to the end of the head */
    double connect_seconds;     /* 15: resolve and connect together */
    double idle_seconds;        /* 600: a tunnel without bytes in either direction */
    double response_seconds;    /* 300: from a plain request to its response */
    double half_closed_seconds; /* 600: after one side has said its last */
    double shed_seconds;        /* 30: silent tunnels may be cut to make room */
    double drain_seconds;       /* 30 */
};
extern const struct limits limits_default;

#endif
