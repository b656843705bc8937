/* The line of the audit: keys in a fixed order, so that it can be read by eye and
 * compared by tools. What came from a client is written byte by byte in ASCII: a
 * terminal that shows the file must not be steered by it. */
#include <assert.h>
#include <stdio.h>
#include <time.h>

#include "proxy/audit.h"
#include "proxy/base/utf8.h"

enum {
    AUDIT_VERSION = 1,
    CLIENT_MAX = 128, /* bytes shown of each */
    RAW_MAX = 64,
    SNI_MAX = 255,
};

struct line {
    char *bytes;
    size_t n, size;
    bool full; /* something did not fit: the line is worthless */
};

static void put(struct line *l, struct str s)
{
    if (s.n >= l->size - l->n) {
        l->full = true;
        return;
    }
    memcpy(l->bytes + l->n, s.p, s.n);
    l->n += s.n;
    l->bytes[l->n] = '\0';
}

static void put_key(struct line *l, const char *key)
{
    put(l, l->n == 0 ? STR("{\"") : STR(",\""));
    put(l, str_from(key));
    put(l, STR("\":"));
}

/* Our own words and those of settings: UTF-8. */
static void add_text(struct line *l, const char *key, struct str text)
{
    size_t n;

    if (text.n == 0)
        return;
    put_key(l, key);
    n = json_quote(text, l->bytes + l->n, l->size - l->n - 1);
    l->full |= n == 0;
    l->n += n;
    l->bytes[l->n] = '\0';
}

static void add_word(struct line *l, const char *key, const char *word)
{
    if (word != NULL)
        add_text(l, key, str_from(word));
}

/* Bytes of a client: each is one character of the string, from U+0000 to U+00FF. */
static void add_bytes(struct line *l, const char *key, struct str bytes)
{
    if (bytes.n == 0)
        return;
    put_key(l, key);
    put(l, STR("\""));
    for (size_t i = 0; i < bytes.n; i++) {
        unsigned char c = (unsigned char)bytes.p[i];
        char escape[8];

        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            put(l, (struct str){bytes.p + i, 1});
            continue;
        }
        snprintf(escape, sizeof escape, "\\u%04x", c);
        put(l, str_from(escape));
    }
    put(l, STR("\""));
}

static void put_number(struct line *l, unsigned long long number, unsigned width)
{
    char room[STR_UINT_MAX];

    put(l, str_of_uint(number, width, room));
}

static void add_number(struct line *l, const char *key, unsigned long long number)
{
    put_key(l, key);
    put_number(l, number, 1);
}

/* Tenths are enough. */
static void add_ms(struct line *l, const char *key, double ms)
{
    unsigned long long tenths;

    if (!(ms >= 0 && ms < 1e15))
        return;
    tenths = (unsigned long long)(ms * 10 + 0.5);
    put_key(l, key);
    put_number(l, tenths / 10, 1);
    put(l, STR("."));
    put_number(l, tenths % 10, 1);
}

/* RFC 3339, UTC, with milliseconds that are cut, not rounded: no second is told before
 * it has begun. */
static void add_time(struct line *l, double now)
{
    time_t second = (time_t)now;
    unsigned ms = (unsigned)((now - (double)second) * 1000) % 1000;
    struct tm utc;

    gmtime_r(&second, &utc);
    put_key(l, "t");
    put(l, STR("\""));
    put_number(l, (unsigned)utc.tm_year + 1900, 4);
    put(l, STR("-"));
    put_number(l, (unsigned)utc.tm_mon + 1, 2);
    put(l, STR("-"));
    put_number(l, (unsigned)utc.tm_mday, 2);
    put(l, STR("T"));
    put_number(l, (unsigned)utc.tm_hour, 2);
    put(l, STR(":"));
    put_number(l, (unsigned)utc.tm_min, 2);
    put(l, STR(":"));
    put_number(l, (unsigned)utc.tm_sec, 2);
    put(l, STR("."));
    put_number(l, ms, 3);
    put(l, STR("Z\""));
}

static void add_target(struct line *l, const struct audit_event *e)
{
    if (e->target == NULL) {
        add_bytes(l, "raw", str_head(e->raw, RAW_MAX));
        return;
    }
    add_text(l, "host", e->target->host);
    add_number(l, "port", e->target->port);
}

static void add_address(struct line *l, const struct addr *addr)
{
    struct ip ip = addr_ip(addr);
    char text[IP_TEXT_MAX];

    ip_unmap(&ip);
    add_text(l, "addr", str_from(ip_text(&ip, text)));
}

size_t audit_format(const struct audit_event *e, double now, char *line, size_t size)
{
    struct line l = {.bytes = line, .size = size};

    assert(size > 0);
    line[0] = '\0';
    add_time(&l, now);
    add_number(&l, "v", AUDIT_VERSION);
    add_text(&l, "session", e->session);
    add_text(&l, "client", utf8_head(e->client, CLIENT_MAX));
    add_number(&l, "id", e->id);
    add_word(&l, "front", e->front);
    add_target(&l, e);
    add_word(&l, "verdict", e->verdict.allow ? "allow" : "deny");
    add_word(&l, "reason", reason_name(e->verdict.reason));
    add_word(&l, "rule", e->rule);
    add_bytes(&l, "sni", str_head(e->sni, SNI_MAX));
    add_address(&l, &e->addr);
    add_word(&l, "via", e->via);
    add_number(&l, "bytes_up", e->bytes_up);
    add_number(&l, "bytes_down", e->bytes_down);
    add_ms(&l, "ms_dns", e->ms_dns);
    add_ms(&l, "ms_connect", e->ms_connect);
    add_ms(&l, "ms", e->ms);
    add_word(&l, "close", e->close);
    put(&l, STR("}"));
    return l.full ? 0 : l.n;
}
