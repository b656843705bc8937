#include "proxy/cmd/run_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proxy/settings_live.h"

enum { PATH_TEXT_MAX = 64, WARNING_MAX = 1024 };

/* Of whom a warning is, and for whom. */
struct warned {
    const char *path;
    policy_warn_fn *fn;
    void *owner;
};

/* What stands in the settings has their file in front; what --allow holds begins with
 * the name of that option already. */
static bool is_of_file(const char *path, const char *text)
{
    return path != NULL && !str_starts(str_from(text), STR(ALLOW_LABEL));
}

static void on_warning(void *owner, const char *text)
{
    const struct warned *w = owner;
    char whole[WARNING_MAX];

    if (is_of_file(w->path, text))
        snprintf(whole, sizeof whole, "%s: %s", w->path, text);
    else
        snprintf(whole, sizeof whole, "%s", text);
    w->fn(w->owner, whole);
}

/* The hosts of --allow as a `network` object of their own. */
static bool make_allow(const struct option_texts *allow, struct json_doc **doc,
                       struct err *e)
{
    cJSON *root = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(root, "allowedDomains");
    char *text;
    bool good;

    for (size_t i = 0; i < allow->count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(allow->values[i]));
    text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    if (text == NULL)
        abort();
    good = json_parse(str_from(text), JSON_SETTINGS, doc, e) ||
           err_set(e, "--allow: expected a host in UTF-8");
    cJSON_free(text);
    return good;
}

static bool load_layers(const struct settings *s, const struct json_doc *allow,
                        struct warned *w, struct policy **out, struct err *e)
{
    struct policy_layer layers[2] = {
        {.label = "", .doc = s->doc, .network = s->network},
        {.label = ALLOW_LABEL, .adds = true},
    };

    if (allow != NULL)
        layers[1].network = json_root(allow);
    return policy_load(layers, allow != NULL ? 2 : 1, on_warning, w, out, e) ||
           (is_of_file(s->path, e->text) && err_wrap(e, "%s", s->path));
}

bool run_policy_load(const struct settings *s, const struct option_texts *allow,
                     policy_warn_fn *warn, void *owner, struct run_policy *out,
                     struct err *e)
{
    struct warned w = {s->path, warn, owner};
    struct json_doc *doc = NULL;
    bool good = (allow->count == 0 || make_allow(allow, &doc, e)) &&
                load_layers(s, doc, &w, &out->policy, e) &&
                parents_of_run(s, out->policy, environ, warn, owner, &out->parents, e);

    json_free(&doc);
    if (!good)
        run_policy_done(out);
    return good;
}

bool run_policy_update(const struct settings *first, const struct option_texts *allow,
                       const char *fd, unsigned long number, struct str line,
                       policy_warn_fn *warn, void *owner, struct run_policy *out,
                       struct err *e)
{
    struct json_doc *doc = NULL;
    struct settings s = {NULL};
    char path[PATH_TEXT_MAX];
    bool good;

    snprintf(path, sizeof path, "--control-fd %s, message %lu", fd, number);
    good = json_parse(line, JSON_SETTINGS, &doc, e) || err_wrap(e, "%s", path);
    good = good && settings_from_doc(path, &doc, warn, owner, &s, e) &&
           settings_check_live(first, &s, e) &&
           run_policy_load(&s, allow, warn, owner, out, e);
    settings_done(&s);
    json_free(&doc);
    return good;
}

void run_policy_done(struct run_policy *p)
{
    policy_unref(&p->policy);
    parents_unref(&p->parents);
}
