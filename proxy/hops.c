#include "proxy/hops.h"

static const struct str always[] = {
    STR("Connection"), STR("Keep-Alive"),        STR("TE"),       STR("Trailer"),
    STR("Upgrade"),    STR("Transfer-Encoding"), STR("Trailers"), STR("HTTP2-Settings"),
};

static const struct str never[] = {
    STR("Host"),
    STR("Content-Length"),
    STR("Content-Type"),
    STR("Content-Range"),
    STR("Content-Encoding"),
    STR("Authorization"),
    STR("Cookie"),
    STR("Set-Cookie"),
    STR("Cache-Control"),
    STR("Expect"),
    STR("Range"),
    STR("Max-Forwards"),
    STR("Location"),
    STR("Vary"),
    STR("WWW-Authenticate"),
};

static bool has(const struct str *list, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal_nocase(list[i], name))
            return true;
    return false;
}

bool hops_read(struct hops *h, const struct http_head *head)
{
    h->count = 0;
    for (size_t i = 0; i < head->field_count; i++) {
        struct str rest = head->fields[i].value;

        if (!str_equal_nocase(head->fields[i].name, STR("Connection")))
            continue;
        while (rest.n > 0) {
            struct str option = str_trim(str_cut(&rest, ','));

            if (option.n == 0)
                continue;
            if (h->count == HOPS_NAMED_MAX)
                return false;
            h->named[h->count++] = option;
        }
    }
    return true;
}

bool hops_named(const struct hops *h, struct str option)
{
    return has(h->named, h->count, option);
}

bool hops_drop(const struct hops *h, struct str name)
{
    const struct str proxy = STR("Proxy-");

    if (has(always, sizeof always / sizeof *always, name) ||
        str_equal_nocase(str_head(name, proxy.n), proxy))
        return true;
    return hops_named(h, name) && !has(never, sizeof never / sizeof *never, name);
}
