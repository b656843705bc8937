#include "tests/oracle/spelling.h"

#include "proxy/base/target.h"

static void split_port(struct str text, struct spelling *s)
{
    const char *close = text.n > 0 ? memchr(text.p, ']', text.n) : NULL;
    const char *colon = text.n > 0 ? memchr(text.p, ':', text.n) : NULL;

    s->host = text;
    if (text.n > 0 && text.p[0] == '[' && close != NULL) {
        s->bracketed = true;
        s->host = (struct str){text.p + 1, (size_t)(close - text.p) - 1};
        s->port = str_skip(text, s->host.n + 3);
    } else if (colon != NULL &&
               memchr(colon + 1, ':', text.n - (size_t)(colon - text.p) - 1) == NULL) {
        s->host = str_head(text, (size_t)(colon - text.p));
        s->port = str_skip(text, s->host.n + 1);
    }
}

static bool is_digit(char c, bool hex)
{
    return (c >= '0' && c <= '9') || (hex && (c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static bool is_number(struct str label)
{
    bool hex = label.n >= 2 && label.p[0] == '0' && (label.p[1] | 0x20) == 'x';

    for (size_t i = hex ? 2 : 0; i < label.n; i++)
        if (!is_digit(label.p[i], hex))
            return false;
    return label.n > 0;
}

static void look_at_byte(unsigned char c, struct spelling *s)
{
    bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';

    if (c > 127)
        s->foreign = true;
    else if (!letter && !is_digit((char)c, false) && strchr("-_.*", c) == NULL)
        s->odd_bytes = true;
    if (c == '\0')
        s->odd_bytes = true;
    s->upper |= c >= 'A' && c <= 'Z';
    s->stars += c == '*';
}

static void look_at_labels(struct str name, struct spelling *s)
{
    while (name.n > 0) {
        bool more = memchr(name.p, '.', name.n) != NULL;
        struct str label = str_cut(&name, '.');

        s->labels++;
        s->empty_label |= label.n == 0 || (more && name.n == 0);
        s->long_label |= label.n > HOST_LABEL_MAX;
        s->number_last = is_number(label);
        s->punycode |= str_equal_nocase(str_head(label, 4), STR("xn--"));
    }
}

struct spelling spelling_of(struct str text)
{
    struct spelling s = {0};
    struct str name;
    struct ip ip;

    split_port(text, &s);
    s.address = ip_parse(s.host, &ip);
    s.zone = s.host.n > 0 && memchr(s.host.p, '%', s.host.n) != NULL;
    s.wildcard = str_starts(s.host, STR("*."));
    name = str_skip(s.host, s.wildcard ? 2 : 0);
    for (size_t i = 0; i < name.n; i++)
        look_at_byte((unsigned char)name.p[i], &s);
    s.dot_last = str_ends(name, STR(".")) && !str_ends(name, STR(".."));
    if (s.dot_last)
        name.n--;
    s.long_name = name.n > HOST_NAME_MAX_LEN;
    look_at_labels(name, &s);
    s.empty_label |= s.labels == 0;
    return s;
}
