#include "proxy/settings_live.h"

#include <string.h>

#include "proxy/keys.h"

/* What was read once, when the sandbox was made. */
static const char fixed[] =
    "cannot change while the command runs; end it, and start it "
    "with the new settings";

/* Lists of `filesystem` that are in each document of srt: empty, they ask for what
 * their absence asks for. An empty denyRead does not: it shows what is hidden
 * otherwise. */
static const char *const optional[] = {"allowRead", "allowWrite", "denyWrite"};

static bool asks_nothing(const cJSON *node)
{
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (strcmp(node->string, optional[i]) == 0)
            return cJSON_IsArray(node) && node->child == NULL;
    return false;
}

/* Does `other` say all that `object` says? */
static bool says(const cJSON *other, const cJSON *object)
{
    const cJSON *node;

    cJSON_ArrayForEach(node, object) {
        const cJSON *theirs = json_get(other, node->string);

        if (theirs != NULL ? !cJSON_Compare(node, theirs, true) : !asks_nothing(node))
            return false;
    }
    return true;
}

static bool is_same_object(const cJSON *a, const cJSON *b)
{
    return says(a, b) && says(b, a);
}

/* Nor is an empty parentProxy the same as none: without one the environment says
 * through which proxy connections go. */
static bool is_same(const cJSON *a, const cJSON *b)
{
    return a == b || cJSON_Compare(a, b, true);
}

/* `node` is what is wrong, or the place in which it is missing. */
static bool refuse(const struct settings *next, const cJSON *node, const char *key,
                   struct err *e)
{
    struct keys_file file = {.path = next->path, .doc = next->doc};

    err_set(e, "%s", fixed);
    return keys_wrong(&file, node != NULL ? node : json_root(next->doc), e, "%s", key);
}

bool settings_check_live(const struct settings *now, const struct settings *next,
                         struct err *e)
{
    const cJSON *parent = json_get(next->network, "parentProxy");

    if (!is_same_object(now->filesystem, next->filesystem))
        return refuse(next, next->filesystem, "filesystem", e);
    if (!is_same_object(now->credentials, next->credentials))
        return refuse(next, next->credentials, "credentials", e);
    if (!is_same(json_get(now->network, "parentProxy"), parent))
        return refuse(next, parent != NULL ? parent : next->network,
                      "network.parentProxy", e);
    return true;
}
