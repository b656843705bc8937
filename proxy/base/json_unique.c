#include "proxy/base/json_unique.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Up to here each key is compared with each; a table pays off above. */
enum { PAIRWISE_MAX = 8 };

/* FNV-1a from a start that nobody outside can know, so that keys which all fall into
 * one slot cannot be prepared. */
static uint64_t hash(const char *key, uint64_t seed)
{
    uint64_t h = seed;

    for (; *key != '\0'; key++)
        h = (h ^ (unsigned char)*key) * UINT64_C(0x100000001b3);
    return h ^ (h >> 32);
}

static const cJSON *find_pairwise(const cJSON *object, const cJSON **first)
{
    for (const cJSON *node = object->child; node != NULL; node = node->next)
        for (*first = object->child; *first != node; *first = (*first)->next)
            if (strcmp((*first)->string, node->string) == 0)
                return node;
    return NULL;
}

static const cJSON *find_hashed(const cJSON *object, size_t count, const cJSON **first)
{
    size_t size = 16;
    const cJSON **table, *found = NULL;
    uint64_t seed = (uintptr_t)object;

    while (size < count * 2)
        size *= 2;
    table = calloc(size, sizeof *table);
    if (table == NULL)
        abort();
    (void)!getrandom(&seed, sizeof seed, 0);
    for (const cJSON *node = object->child; node != NULL && found == NULL;
         node = node->next) {
        size_t at = hash(node->string, seed) & (size - 1);

        while (table[at] != NULL && strcmp(table[at]->string, node->string) != 0)
            at = (at + 1) & (size - 1);
        if (table[at] != NULL) {
            found = node;
            *first = table[at];
        }
        table[at] = node;
    }
    free(table);
    return found;
}

static const cJSON *find_here(const cJSON *object, const cJSON **first)
{
    size_t count = (size_t)cJSON_GetArraySize(object);

    return count <= PAIRWISE_MAX ? find_pairwise(object, first)
                                 : find_hashed(object, count, first);
}

/* The depth is bounded by the scan. */
const cJSON *json_duplicate(const cJSON *root, const cJSON **first)
{
    const cJSON *node, *found = NULL;

    if (cJSON_IsObject(root))
        found = find_here(root, first);
    for (node = root->child; node != NULL && found == NULL; node = node->next)
        if (node->child != NULL)
            found = json_duplicate(node, first);
    return found;
}
