#include "proxy/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proxy/base/fd.h"
#include "proxy/keys.h"

#define OF_GATEWAY                                                         \
    KEY_ELSEWHERE, "belongs to a gateway file, which is given with -f to " \
                   "weir gateway or weir check"

static const struct key keys[] = {
    {"network", KEY_USED, NULL},
    {"filesystem", KEY_USED, NULL},
    {"$schema", KEY_SILENT, NULL}, /* for editors */
    {"credentials", KEY_LATER, NULL},
    {"allowNestedUserNamespaces", KEY_LATER, NULL},
    {"mandatoryDenySearchDepth", KEY_LATER, NULL},
    {"git", KEY_LATER, NULL},
    {"ignoreViolations", KEY_NOTED, "means nothing here: all violations are told"},
    {"enableWeakerNestedSandbox", KEY_NOTED,
     "means nothing here: the sandbox is never weakened"},
    {"enableWeakerNetworkIsolation", KEY_NOTED, "means nothing here: for macOS"},
    {"allowAppleEvents", KEY_NOTED, "means nothing here: for macOS"},
    {"allowPty", KEY_NOTED, "means nothing here: for macOS"},
    {"windows", KEY_NOTED, "means nothing here: for Windows"},
    {"ripgrep", KEY_NOTED, "means nothing here: no helper program searches files"},
    {"seccomp", KEY_NOTED, "means nothing here: no helper program is needed"},
    {"bwrapPath", KEY_NOTED, "means nothing here: no helper program is needed"},
    {"socatPath", KEY_NOTED, "means nothing here: no helper program is needed"},
    {"javaAgentJarPath", KEY_NOTED, "means nothing here: no helper program is needed"},
    {"listen", OF_GATEWAY},
    {"admin", OF_GATEWAY},
    {"clients", OF_GATEWAY},
    {"resolver", OF_GATEWAY},
    {"limits", OF_GATEWAY},
    {"audit", OF_GATEWAY},
    {"workers", OF_GATEWAY},
    {"control", OF_GATEWAY},
    {.name = NULL},
};

static char *copy(const char *text)
{
    char *mine = strdup(text);

    if (mine == NULL)
        abort();
    return mine;
}

/* An absolute path below the folder that the environment variable names; NULL when it
 * names none. A relative one would depend on the current directory, from which nothing
 * is ever read. */
static char *path_below(const char *variable, const char *name)
{
    const char *folder = getenv(variable);
    char *path = NULL;

    if (folder == NULL || folder[0] != '/')
        return NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        abort();
    return path;
}

size_t settings_default_paths(char *paths[3])
{
    char *all[] = {
        path_below("XDG_CONFIG_HOME", "weir/settings.json"),
        path_below("HOME", ".config/weir/settings.json"),
        path_below("HOME", ".srt-settings.json"),
    };
    size_t count = 0;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] != NULL)
            paths[count++] = all[i];
    return count;
}

/* A dangling link is there too, and so is what we may not look at: both must fail, not
 * be passed over. */
static bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* Frees `path` and returns NULL when there is nothing. */
static char *if_there(char *path)
{
    if (path != NULL && is_there(path))
        return path;
    free(path);
    return NULL;
}

char *settings_srt_file(void)
{
    return if_there(path_below("HOME", ".srt-settings.json"));
}

/* The first of the default places that has a file, for free(); NULL when none has. */
static char *find_default(void)
{
    char *own = path_below("XDG_CONFIG_HOME", "weir/settings.json");

    if (own == NULL)
        own = path_below("HOME", ".config/weir/settings.json");
    own = if_there(own);
    return own != NULL ? own : settings_srt_file();
}

void settings_none(struct settings *out)
{
    *out = (struct settings){.path = NULL};
}

bool settings_read(const char *path, struct json_doc **doc, struct err *e)
{
    char *text = NULL;
    size_t len = 0;
    bool ok;

    if (!fd_read_file(path, JSON_TEXT_MAX, &text, &len, e))
        return false;
    ok = json_parse((struct str){text, len}, JSON_SETTINGS, doc, e) ||
         err_wrap(e, "%s", path);
    free(text);
    return ok;
}

/* The subtree of a key that takes an object; *out stays NULL when there is none. */
static bool take_object(const struct keys_file *file, const char *key,
                        const cJSON **out, struct err *e)
{
    const cJSON *node = json_get(json_root(file->doc), key);

    if (node != NULL && !cJSON_IsObject(node)) {
        err_set(e, "%s: expected an object", key);
        return keys_wrap(file, node, e);
    }
    *out = node;
    return true;
}

static bool take_root(const struct keys_file *file, struct settings *s, struct err *e)
{
    return keys_check(file, "", json_root(file->doc), keys, e) &&
           take_object(file, "network", &s->network, e) &&
           take_object(file, "filesystem", &s->filesystem, e) &&
           take_object(file, "credentials", &s->credentials, e);
}

bool settings_from_doc(const char *path, struct json_doc **doc, policy_warn_fn *warn,
                       void *owner, struct settings *out, struct err *e)
{
    struct keys_file file = {path, *doc, warn, owner};
    struct settings s = {.doc = *doc};

    if (!take_root(&file, &s, e))
        return false;
    s.path = copy(path);
    *doc = NULL;
    *out = s;
    return true;
}

bool settings_load(const char *path, policy_warn_fn *warn, void *owner,
                   struct settings *out, struct err *e)
{
    char *found = path != NULL ? copy(path) : find_default();
    struct json_doc *doc = NULL;
    bool ok;

    if (found == NULL) {
        settings_none(out);
        return true;
    }
    ok = settings_read(found, &doc, e) &&
         settings_from_doc(found, &doc, warn, owner, out, e);
    json_free(&doc);
    free(found);
    return ok;
}

void settings_done(struct settings *s)
{
    free(s->path);
    json_free(&s->doc);
    *s = (struct settings){0};
}
