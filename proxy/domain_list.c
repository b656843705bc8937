#include "proxy/domain_list.h"

#include "proxy/base/json.h"
#include "proxy/base/utf8.h"

/* No pattern is longer: a name, a port range, and what IDN shortens. */
enum { ENTRY_MAX = 1024, QUOTED_MAX = ENTRY_MAX * 6 + 2 };

static bool add_quoted(struct buf *out, const char *before, struct str entry)
{
    char quoted[QUOTED_MAX];
    size_t n = json_quote(entry, quoted, sizeof quoted);

    return n > 0 && buf_add(out, str_from(before)) &&
           buf_add(out, (struct str){quoted, n}) && buf_add(out, STR(","));
}

/* Squid writes ".example.com" for the domain and everything below. */
static bool add_entry(struct buf *out, struct str entry)
{
    char below[ENTRY_MAX + 1] = "*";

    if (entry.n < 2 || entry.p[0] != '.')
        return add_quoted(out, " ", entry);
    memcpy(below + 1, entry.p, entry.n);
    return add_quoted(out, " ", str_skip(entry, 1)) &&
           add_quoted(out, " ", (struct str){below, entry.n + 1});
}

static bool convert_line(struct str line, struct buf *out, struct err *e)
{
    struct str comment = line, entries = str_cut(&comment, '#');

    while (entries.n > 0) {
        struct str entry = str_trim(str_cut(&entries, ','));

        if (entry.n >= ENTRY_MAX)
            return err_set(e, "an entry of %zu bytes", entry.n);
        if (entry.n > 0 && !add_entry(out, entry))
            return err_set(e, "the list is too long");
    }
    comment = str_trim(comment);
    return comment.n == 0 || (buf_add(out, STR(" // ")) && buf_add(out, comment)) ||
           err_set(e, "the list is too long");
}

bool domain_list_convert(struct str list, struct buf *out, struct err *e)
{
    bool ok = buf_add(out, STR("{ \"network\": { \"allowedDomains\": ["));

    if (str_starts(list, UTF8_BOM))
        list = str_skip(list, UTF8_BOM.n);
    for (size_t number = 1; ok && list.n > 0; number++) {
        struct str line = str_cut(&list, '\n');

        if (str_ends(line, STR("\r")))
            line.n--;
        if (!convert_line(line, out, e))
            return err_wrap(e, "line %zu", number);
        ok = buf_add(out, STR("\n"));
    }
    return (ok && buf_add(out, STR("] } }\n"))) || err_set(e, "the list is too long");
}
