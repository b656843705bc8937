#include "proxy/base/target.h"

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_';
}

/* Whether a resolver might take a name with this last label for an IPv4 address: all
 * digits, or 0x and hexadecimal digits (WHATWG URL, "ends in a number"). */
static bool is_number_label(struct str label)
{
    bool hex = label.n >= 2 && label.p[0] == '0' && (label.p[1] | 0x20) == 'x';

    for (size_t i = hex ? 2 : 0; i < label.n; i++) {
        char c = label.p[i];
        bool digit = c >= '0' && c <= '9';
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'f';

        if (!digit && !(hex && letter))
            return false;
    }
    return true;
}

static bool is_name(struct str host)
{
    struct str rest = host, label = {0};

    if (host.n == 0 || host.n > HOST_NAME_MAX_LEN || host.p[host.n - 1] == '.')
        return false;
    while (rest.n > 0) {
        label = str_cut(&rest, '.');
        if (label.n == 0 || label.n > HOST_LABEL_MAX)
            return false;
        for (size_t i = 0; i < label.n; i++)
            if (!is_name_byte(label.p[i]))
                return false;
    }
    return !is_number_label(label);
}

static bool set_addr(struct target *t, struct arena *a, struct ip ip, unsigned port)
{
    char text[IP_TEXT_MAX];
    struct str host;

    ip_unmap(&ip);
    host = arena_dup(a, str_from(ip_text(&ip, text)));
    if (host.p == NULL)
        return false;
    *t = (struct target){HOST_ADDR, host, ip, port};
    return true;
}

static bool set_name(struct target *t, struct arena *a, struct str name, unsigned port)
{
    struct str host;

    if (name.n > 0 && name.p[name.n - 1] == '.')
        name.n--;
    if (!is_name(name))
        return false;
    host = arena_dup(a, name);
    if (host.p == NULL)
        return false;
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] >= 'A' && host.p[i] <= 'Z')
            ((char *)host.p)[i] = (char)(host.p[i] | 0x20);
    *t = (struct target){HOST_NAME, host, {0}, port};
    return true;
}

bool target_set(struct target *t, struct arena *a, struct str host, bool bracketed,
                unsigned port)
{
    struct ip ip;

    if (port < 1 || port > 65535 || host.n == 0)
        return false;
    if (ip_parse(host, &ip))
        return bracketed == (ip.family == 6) && set_addr(t, a, ip, port);
    return !bracketed && set_name(t, a, host, port);
}

bool target_parse(struct target *t, struct arena *a, struct str authority)
{
    struct str host, port_text;
    unsigned port;
    bool bracketed = authority.n > 0 && authority.p[0] == '[';

    if (bracketed) {
        struct str rest = str_skip(authority, 1);

        if (memchr(rest.p, ']', rest.n) == NULL)
            return false;
        host = str_cut(&rest, ']');
        if (rest.n == 0 || rest.p[0] != ':')
            return false;
        port_text = str_skip(rest, 1);
    } else {
        port_text = authority;
        host = str_cut(&port_text, ':');
    }
    return str_to_uint(port_text, 65535, &port) &&
           target_set(t, a, host, bracketed, port);
}

bool target_same_host(const struct target *a, const struct target *b)
{
    if (a->kind != b->kind || a->kind == HOST_NONE)
        return false;
    return a->kind == HOST_ADDR ? ip_equal(&a->ip, &b->ip)
                                : str_equal(a->host, b->host);
}
