/* What a person hands to `weir check`: the first byte tells whether the rest is a
 * target or a plain list of domains. A target that is read is one that reads itself
 * again; a list that is taken over gives settings with the lines of the list. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/base/json.h"
#include "proxy/base/utf8.h"
#include "proxy/cmd/check_target.h"
#include "proxy/domain_list.h"

enum { OUT_MAX = 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_again(const struct target *t)
{
    char text[HOST_NAME_MAX_LEN + 16];
    bool v6 = t->kind == HOST_ADDR && t->ip.family == 6;
    struct target again = {0};
    enum port_from from;
    enum dial_use use;
    struct arena a;
    struct err e;

    snprintf(text, sizeof text, v6 ? "[%s]:%u" : "%s:%u", t->host.p, t->port);
    arena_init(&a, 1024);
    if (!check_target_parse(str_from(text), &a, &again, &from, &use, &e) ||
        from != PORT_WRITTEN || again.port != t->port || !target_same_host(t, &again))
        abort();
    arena_done(&a);
}

static void try_target(struct str text)
{
    struct target t = {0};
    enum port_from from;
    enum dial_use use;
    struct arena a;
    struct err e = {""};

    arena_init(&a, 1024);
    if (check_target_parse(text, &a, &t, &from, &use, &e))
        read_again(&t);
    else if (e.text[0] == '\0' || t.kind != HOST_NONE)
        abort();
    arena_done(&a);
}

static size_t count_lines(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '\n';
    return n;
}

static void try_list(struct str list)
{
    /* One byte order mark is taken off by the reader itself, and no line. */
    size_t mark = str_starts(list, UTF8_BOM) ? UTF8_BOM.n : 0;
    struct str text = str_skip(list, mark);
    struct json_doc *doc = NULL;
    struct buf out;
    struct err e = {""};

    buf_init(&out, OUT_MAX);
    if (domain_list_convert(list, &out, &e)) {
        size_t lines = count_lines(text) + (text.n > 0 && text.p[text.n - 1] != '\n');

        if (count_lines(buf_view(&out)) != lines + 1)
            abort();
        if (json_parse(buf_view(&out), JSON_SETTINGS, &doc, &e) &&
            !cJSON_IsArray(
                json_get(json_get(json_root(doc), "network"), "allowedDomains")))
            abort();
        json_free(&doc);
    } else if (e.text[0] == '\0') {
        abort();
    }
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == 'L')
        try_list((struct str){(const char *)data + 1, size - 1});
    else if (size > 0)
        try_target((struct str){(const char *)data + 1, size - 1});
    return 0;
}
