#include "proxy/settings_live.h"

#include "proxy/keys.h"

/* Of the file: they are read once, when the sandbox is made. */
static const char *const fixed[] = {"filesystem", "credentials", NULL};
/* Of `network`: inside, the environment and the programs that read it count on it. */
static const char *const fixed_network[] = {"parentProxy", NULL};

/* An object or a list without anything in it asks for what its absence asks for. */
static bool asks_nothing(const cJSON *node)
{
    return node == NULL || cJSON_IsNull(node) ||
           ((cJSON_IsObject(node) || cJSON_IsArray(node)) && node->child == NULL);
}

static bool is_same(const cJSON *a, const cJSON *b)
{
    return (asks_nothing(a) && asks_nothing(b)) || cJSON_Compare(a, b, true);
}

static bool check(const struct keys_file *file, const char *const names[],
                  const char *place, const cJSON *now, const cJSON *next, struct err *e)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        const cJSON *mine = json_get(next, names[i]), *node = mine;

        if (is_same(json_get(now, names[i]), mine))
            continue;
        if (node == NULL)
            node = next != NULL ? next : json_root(file->doc);
        err_set(e, "cannot change while the command runs; end it, and start it with "
                   "the new settings");
        return keys_wrong(file, node, e, "%s%s", place, names[i]);
    }
    return true;
}

static const cJSON *root(const struct settings *s)
{
    return s->doc != NULL ? json_root(s->doc) : NULL;
}

bool settings_check_live(const struct settings *now, const struct settings *next,
                         struct err *e)
{
    struct keys_file file = {.path = next->path, .doc = next->doc};

    return check(&file, fixed, "", root(now), root(next), e) &&
           check(&file, fixed_network, "network.", now->network, next->network, e);
}
