/* The parents of `weir run`: from the settings, or else from the environment. What is
 * of the environment names its variable, and not the file. */
#include <stdio.h>

#include "proxy/parents.h"
#include "proxy/settings.h"

enum { TEXT_MAX = 1024 };

struct listener {
    const char *path;
    policy_warn_fn *warn;
    void *owner;
};

/* The variables of the environment have other names. */
static bool is_of_file(const char *path, const char *text)
{
    struct str s = str_from(text);

    return path != NULL &&
           (str_starts(s, STR("line ")) || str_starts(s, STR("network")));
}

static void on_warning(void *owner, const char *text)
{
    const struct listener *l = owner;
    char whole[TEXT_MAX];

    snprintf(whole, sizeof whole, "%s%s%s", is_of_file(l->path, text) ? l->path : "",
             is_of_file(l->path, text) ? ": " : "", text);
    if (l->warn != NULL)
        l->warn(l->owner, whole);
}

bool parents_of_run(const struct settings *s, const struct policy *policy,
                    char *const *environment, policy_warn_fn *warn, void *owner,
                    struct parents **out, struct err *e)
{
    struct policy_layer layer = {.label = "", .doc = s->doc, .network = s->network};
    struct listener listener = {s->path, warn, owner};
    struct parents_options o = {.layers = &layer,
                                .count = 1,
                                .environment = environment,
                                .warn = on_warning,
                                .owner = &listener};

    if (!parents_load(&o, out, e))
        return is_of_file(s->path, e->text) ? err_wrap(e, "%s", s->path) : false;
    parents_review(*out, policy, "", on_warning, &listener);
    return true;
}
