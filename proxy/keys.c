#include "proxy/keys.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TABLE_MAX = 64, WARNING_MAX = 1024, PLACE_MAX = 128 };

static const struct key *find(const struct key *table, const char *name)
{
    for (; table->name != NULL; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

static bool only_known(const cJSON *object, const struct key *table, const cJSON **bad,
                       struct err *e)
{
    const char *known[TABLE_MAX + 1] = {NULL};

    for (size_t i = 0; table[i].name != NULL; i++) {
        assert(i < TABLE_MAX);
        known[i] = table[i].name;
    }
    return json_only_keys(object, known, bad, e);
}

/* Whether the value wants nothing, so that leaving it alone is doing what it says. */
static bool asks_nothing(const cJSON *value)
{
    if (cJSON_IsObject(value) || cJSON_IsArray(value))
        return value->child == NULL;
    return cJSON_IsNull(value) || cJSON_IsFalse(value);
}

bool keys_wrap(const struct keys_file *file, const cJSON *node, struct err *e)
{
    return err_wrap(e, "%s: line %u", file->path, json_line(file->doc, node));
}

bool keys_wrong(const struct keys_file *file, const cJSON *node, struct err *e,
                const char *place, ...)
{
    char text[PLACE_MAX];
    va_list args;

    va_start(args, place);
    vsnprintf(text, sizeof text, place, args);
    va_end(args);
    err_wrap(e, "%s", text);
    return keys_wrap(file, node, e);
}

const char *keys_text(const cJSON *node)
{
    return cJSON_IsString(node) ? node->valuestring : NULL;
}

char *keys_path(const struct keys_file *file, const char *path)
{
    const char *slash = strrchr(file->path, '/');
    int folder = path[0] == '/' || slash == NULL ? 0 : (int)(slash + 1 - file->path);
    char *whole = NULL;

    if (asprintf(&whole, "%.*s%s", folder, file->path, path) < 0)
        abort();
    return whole;
}

bool keys_is_list(const struct keys_file *file, const cJSON *node, const char *place,
                  const char *what, struct err *e)
{
    if (cJSON_IsArray(node) && cJSON_GetArraySize(node) > 0)
        return true;
    err_set(e, "expected a list with at least one %s", what);
    return keys_wrong(file, node, e, "%s", place);
}

void keys_warn(const struct keys_file *file, const cJSON *node, const char *place,
               const char *what)
{
    char text[WARNING_MAX];

    if (file->warn == NULL)
        return;
    snprintf(text, sizeof text, "%s: line %u: %s%s: %s", file->path,
             json_line(file->doc, node), place,
             node->string != NULL ? node->string : "", what);
    file->warn(file->owner, text);
}

static bool check_key(const struct keys_file *file, const char *place,
                      const cJSON *node, const struct key *key, struct err *e)
{
    if (key->use == KEY_LATER && !asks_nothing(node)) {
        err_set(e, "%s%s: not supported yet", place, node->string);
        return keys_wrap(file, node, e);
    }
    if (key->use == KEY_ELSEWHERE) {
        err_set(e, "%s%s: %s", place, node->string, key->note);
        return keys_wrap(file, node, e);
    }
    if (key->use == KEY_NOTED)
        keys_warn(file, node, place, key->note);
    return true;
}

bool keys_check(const struct keys_file *file, const char *place, const cJSON *object,
                const struct key *table, struct err *e)
{
    const cJSON *node;

    if (!cJSON_IsObject(object)) {
        if (object->string != NULL)
            err_set(e, "%s: expected an object", object->string);
        else
            err_set(e, "expected an object");
        return keys_wrap(file, object, e);
    }
    if (!only_known(object, table, &node, e)) {
        if (place[0] != '\0')
            err_wrap(e, "%.*s", (int)strlen(place) - 1, place);
        return keys_wrap(file, node, e);
    }
    cJSON_ArrayForEach(node, object)
        if (!check_key(file, place, node, find(table, node->string), e))
            return false;
    return true;
}
