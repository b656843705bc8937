/* Whatever the scan accepts has one meaning: cJSON reads it to the end, prints it, and
 * what it printed is accepted again and is the same tree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(const struct json_doc *doc, const cJSON *node, unsigned before)
{
    const cJSON *child;
    unsigned line = json_line(doc, node);

    if (line < before)
        abort();
    cJSON_ArrayForEach(child, node)
        check_lines(doc, child, line);
}

/* Numbers may be printed with fewer digits, and a string may hold what json_quote()
 * spells differently, so trees are compared, not texts. */
static void check_again(const struct json_doc *doc, enum json_style style)
{
    char *printed = cJSON_PrintUnformatted(json_root(doc));
    struct json_doc *again = NULL;
    struct err e;

    if (printed == NULL || !json_parse(str_from(printed), style, &again, &e) ||
        !cJSON_Compare(json_root(doc), json_root(again), true))
        abort();
    json_free(&again);
    free(printed);
}

static void check_quote(const struct json_doc *doc)
{
    const cJSON *root = json_root(doc);
    struct json_doc *again = NULL;
    char quoted[4096];
    struct err e;
    size_t n;

    if (!cJSON_IsString(root))
        return;
    n = json_quote(str_from(root->valuestring), quoted, sizeof quoted);
    if (n == 0)
        return;
    if (!json_parse((struct str){quoted, n}, JSON_PROTOCOL, &again, &e) ||
        strcmp(json_root(again)->valuestring, root->valuestring) != 0)
        abort();
    json_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    bool accepted[2] = {false, false};

    for (enum json_style style = JSON_PROTOCOL; style <= JSON_SETTINGS; style++) {
        struct json_doc *doc = NULL;
        struct err e = {""};

        accepted[style] = json_parse(text, style, &doc, &e);
        if (accepted[style] != (doc != NULL) || accepted[style] == (e.text[0] != '\0'))
            abort();
        if (!accepted[style])
            continue;
        check_lines(doc, json_root(doc), 1);
        check_again(doc, style);
        check_quote(doc);
        json_free(&doc);
    }
    /* Settings take more than protocols, never less. */
    if (accepted[JSON_PROTOCOL] && !accepted[JSON_SETTINGS])
        abort();
    return 0;
}
