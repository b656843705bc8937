/* The scan decides whether a text is JSON; cJSON makes the tree of what passed. Both go
 * through the values in the same order, so the scan's list of places tells where each
 * node stands. */
#include "proxy/base/json.h"

#include <assert.h>
#include <stdlib.h>

#include "proxy/base/json_scan.h"
#include "proxy/base/json_unique.h"

struct json_doc {
    cJSON *root;
    struct json_places places; /* sorted by node */
};

static void place_nodes(struct json_places *places, const cJSON *node, size_t *next)
{
    const cJSON *child;

    assert(*next < places->count);
    places->list[(*next)++].node = node;
    cJSON_ArrayForEach(child, node)
        place_nodes(places, child, next);
}

static int compare_places(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct json_place *)a)->node;
    uintptr_t y = (uintptr_t)((const struct json_place *)b)->node;

    return (x > y) - (x < y);
}

static void find_places(struct json_doc *doc)
{
    size_t count = 0;

    place_nodes(&doc->places, doc->root, &count);
    assert(count == doc->places.count);
    qsort(doc->places.list, count, sizeof *doc->places.list, compare_places);
}

static const struct json_place *find_place(const struct json_doc *doc,
                                           const cJSON *node)
{
    struct json_place key = {.node = node};

    return bsearch(&key, doc->places.list, doc->places.count, sizeof key,
                   compare_places);
}

static bool check_unique(const struct json_doc *doc, struct str text, struct err *e)
{
    const cJSON *first, *second = json_duplicate(doc->root, &first);

    if (second == NULL)
        return true;
    err_set(e, "the key \"%.100s\" stands here and in line %u", second->string,
            json_line(doc, first));
    return json_scan_wrap(text, find_place(doc, second)->offset, e);
}

/* A copy that may be changed. */
static char *copy_text(struct str text)
{
    char *copy = malloc(text.n + 1);

    if (copy == NULL)
        abort();
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    return copy;
}

static bool parse_into(struct json_doc *doc, struct str text, enum json_style style,
                       char *clean, struct err *e)
{
    if (!json_scan(text, style, clean, &doc->places, e))
        return false;
    doc->root = cJSON_ParseWithLength(clean != NULL ? clean : text.p, text.n);
    if (doc->root == NULL)
        abort(); /* no memory: all else was checked by the scan */
    find_places(doc);
    return check_unique(doc, text, e);
}

bool json_parse(struct str text, enum json_style style, struct json_doc **out,
                struct err *e)
{
    struct json_doc *doc;
    char *clean;
    bool ok;

    if (text.n > JSON_TEXT_MAX)
        return err_set(e, "larger than %d bytes", JSON_TEXT_MAX);
    if (text.n == 0)
        return err_set(e, "the text is empty, expected a value");
    doc = calloc(1, sizeof *doc);
    if (doc == NULL)
        abort();
    clean = style == JSON_SETTINGS ? copy_text(text) : NULL;
    ok = parse_into(doc, text, style, clean, e);
    free(clean);
    if (ok)
        *out = doc;
    else
        json_free(&doc);
    return ok;
}

void json_free(struct json_doc **doc)
{
    if (*doc == NULL)
        return;
    cJSON_Delete((*doc)->root);
    free((*doc)->places.list);
    free(*doc);
    *doc = NULL;
}

const cJSON *json_root(const struct json_doc *doc)
{
    return doc->root;
}

unsigned json_line(const struct json_doc *doc, const cJSON *node)
{
    const struct json_place *place = doc != NULL ? find_place(doc, node) : NULL;

    return place != NULL ? place->line : 0;
}

const cJSON *json_get(const cJSON *object, const char *key)
{
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, key)
                                  : NULL;
}
