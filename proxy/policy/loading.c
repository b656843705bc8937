#include "proxy/policy/loading.h"

#include <stdarg.h>
#include <stdio.h>

#include "proxy/base/utf8.h"

enum { SHOWN_MAX = 60, QUOTED_MAX = 72, WARNING_MAX = 512 };

/* The entry, quoted as JSON has it, cut when it is long; "" when it is no string. */
static const char *quote(const cJSON *node, char buf[QUOTED_MAX])
{
    struct str text, shown;
    size_t len = 0;

    buf[0] = '\0';
    if (!cJSON_IsString(node))
        return buf;
    text = shown = str_from(node->valuestring);
    /* Escapes may take six bytes each: less is shown then. */
    for (size_t max = SHOWN_MAX; len == 0 && max > 0; max /= 2) {
        shown = utf8_head(text, max);
        len = json_quote(shown, buf, QUOTED_MAX - strlen("...") - 1);
    }
    snprintf(buf + len, QUOTED_MAX - len, "%s", shown.n < text.n ? "..." : "");
    return buf;
}

bool loading_allows(const struct loading *l, unsigned level)
{
    return level == l->p->allow_level ||
           (level > l->p->allow_level && l->layers[level].adds);
}

const char *loading_place(const struct loading *l, unsigned level, const cJSON *node,
                          const char *key, int index, char buf[PLACE_MAX])
{
    const struct policy_layer *layer = &l->layers[level];
    unsigned line = layer->doc != NULL ? json_line(layer->doc, node) : 0;
    char line_text[32] = "", index_text[16] = "", quoted[QUOTED_MAX] = "";

    if (line > 0)
        snprintf(line_text, sizeof line_text, "line %u: ", line);
    if (index >= 0) {
        snprintf(index_text, sizeof index_text, "[%d]", index);
        quote(node, quoted);
    }
    snprintf(buf, PLACE_MAX, "%s%.64snetwork%s%.64s%s%s%s", line_text,
             layer->label != NULL ? layer->label : "", key[0] != '\0' ? "." : "", key,
             index_text, quoted[0] != '\0' ? ": " : "", quoted);
    return buf;
}

bool loading_refuse(const struct loading *l, const cJSON *node, const char *key,
                    int index, struct err *e)
{
    char place[PLACE_MAX];

    return err_wrap(e, "%s", loading_place(l, l->level, node, key, index, place));
}

void loading_warn(const struct loading *l, unsigned level, const cJSON *node,
                  const char *key, int index, const char *fmt, ...)
{
    char place[PLACE_MAX], why[WARNING_MAX - PLACE_MAX], text[WARNING_MAX + 4];
    va_list args;

    if (l->warn == NULL)
        return;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    snprintf(text, sizeof text, "%s: %s",
             loading_place(l, level, node, key, index, place), why);
    l->warn(l->warn_owner, text);
}
