#include "proxy/parent.h"

#include <stdio.h>

enum {
    URL_MAX = 2048,
    /* Name, host, path, credentials and their Base64, each with its end. */
    TEXTS_MAX = 4 * URL_MAX,
    LOGIN_MAX = 255, /* RFC 1929 2: a length is one byte */
    PORT_MAX = 65535,
};

static const struct scheme {
    const char *name;
    enum parent_kind kind;
    bool tls;
    unsigned port;
} schemes[] = {
    {"http", PARENT_HTTP, false, 80},
    {"https", PARENT_HTTP, true, 443},
    {"socks5", PARENT_SOCKS5, false, 1080},
    {"socks5h", PARENT_SOCKS5, false, 1080},
};

/* What stands between "//" and the path (RFC 3986 3.2). */
struct authority {
    struct str user, password; /* as written; user.p NULL: none */
    struct str host, port;     /* port.p NULL: none */
    bool bracketed;
};

static bool has(struct str s, char c)
{
    return s.n > 0 && memchr(s.p, c, s.n) != NULL;
}

static bool has_odd_byte(struct str url)
{
    for (size_t i = 0; i < url.n; i++) {
        unsigned char c = (unsigned char)url.p[i];

        if (c <= 0x20 || c >= 0x7f || c == '\\')
            return true;
    }
    return false;
}

static const struct scheme *find_scheme(struct str name)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (str_equal_nocase(name, str_from(schemes[i].name)))
            return &schemes[i];
    return NULL;
}

/* Cuts the scheme off; *rest is what follows "://". */
static bool cut_scheme(struct str *rest, const struct scheme **scheme, struct err *e)
{
    const char *mark = rest->n > 0 ? memmem(rest->p, rest->n, "://", 3) : NULL;
    struct str name;

    if (mark == NULL)
        return err_set(e, "expected a URL, as in \"http://proxy.example:3128\"");
    name = str_head(*rest, (size_t)(mark - rest->p));
    *scheme = find_scheme(name);
    *rest = str_skip(*rest, name.n + 3);
    if (*scheme == NULL)
        return err_set(e, "the scheme of a parent proxy is http, https, socks5 or "
                          "socks5h");
    return true;
}

/* The last "@" ends the userinfo: a password may hold one that was not encoded. */
static void cut_userinfo(struct str *rest, struct authority *a)
{
    const char *at = rest->n > 0 ? memrchr(rest->p, '@', rest->n) : NULL;
    struct str userinfo;

    if (at == NULL)
        return;
    userinfo = str_head(*rest, (size_t)(at - rest->p));
    *rest = str_skip(*rest, userinfo.n + 1);
    if (userinfo.n == 0)
        return;
    a->password = userinfo;
    a->user = str_cut(&a->password, ':');
}

static bool cut_host(struct str rest, struct authority *a, struct err *e)
{
    a->bracketed = rest.n > 0 && rest.p[0] == '[';
    if (a->bracketed) {
        rest = str_skip(rest, 1);
        if (!has(rest, ']'))
            return err_set(e, "a \"[\" without \"]\"");
        a->host = str_cut(&rest, ']');
        if (rest.n == 0)
            return true;
        if (rest.p[0] != ':')
            return err_set(e, "expected \":\" and a port behind \"]\"");
        a->port = str_skip(rest, 1);
        return true;
    }
    if (!has(rest, ':')) {
        a->host = rest;
        return true;
    }
    a->host = str_cut(&rest, ':');
    a->port = rest;
    return true;
}

/* A path would be taken for a part of the proxy's name that we ignore. */
static bool split(struct str rest, struct authority *a, struct err *e)
{
    size_t n = 0;

    while (n < rest.n && strchr("/?#", rest.p[n]) == NULL)
        n++;
    if (rest.n > n + 1 || (rest.n > n && rest.p[n] != '/'))
        return err_set(e, "expected nothing behind the port: a proxy has no path (in a "
                          "password \"/\" is written %%2F, \"?\" %%3F, \"#\" %%23)");
    rest = str_head(rest, n);
    cut_userinfo(&rest, a);
    return cut_host(rest, a, e);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool decode(struct str text, struct arena *a, struct str *out, struct err *e)
{
    char *bytes = arena_alloc(a, text.n + 1);
    size_t n = 0;

    if (bytes == NULL)
        return err_set(e, "the credentials are too long");
    for (size_t i = 0; i < text.n; i++) {
        int high = text.p[i] == '%' && i + 2 < text.n ? hex_digit(text.p[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.p[i + 2]) : -1;

        if (text.p[i] == '%' && low < 0)
            return err_set(e, "a \"%%\" in the credentials without two hexadecimal "
                              "digits (\"%%\" itself is %%25)");
        bytes[n] = text.p[i];
        if (low >= 0) {
            bytes[n] = (char)(high * 16 + low);
            i += 2;
        }
        if ((unsigned char)bytes[n] < 0x20 || bytes[n] == 0x7f)
            return err_set(e, "a control character in the credentials");
        n++;
    }
    *out = (struct str){bytes, n};
    return true;
}

/* RFC 4648 4. */
static size_t base64(const unsigned char *in, size_t n, char *out)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = 0;

    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        unsigned bits = (unsigned)in[i] << 16;

        if (left > 1)
            bits |= (unsigned)in[i + 1] << 8;
        if (left > 2)
            bits |= in[i + 2];
        out[len++] = digits[bits >> 18];
        out[len++] = digits[bits >> 12 & 63];
        out[len++] = left > 1 ? digits[bits >> 6 & 63] : '=';
        out[len++] = left > 2 ? digits[bits & 63] : '=';
    }
    return len;
}

/* RFC 7617 2. */
static bool make_authorization(struct parent *p, struct err *e)
{
    static const struct str basic = {"Basic ", 6};
    size_t n = p->user.n + 1 + p->password.n;
    unsigned char *pair = arena_alloc(&p->texts, n + 1);
    char *value = arena_alloc(&p->texts, basic.n + (n + 2) / 3 * 4 + 1);

    if (has(p->user, ':'))
        return err_set(e, "a \":\" in the user name");
    if (pair == NULL || value == NULL)
        return err_set(e, "the credentials are too long");
    memcpy(pair, p->user.p, p->user.n);
    pair[p->user.n] = ':';
    memcpy(pair + p->user.n + 1, p->password.p, p->password.n);
    memcpy(value, basic.p, basic.n);
    p->authorization = (struct str){value, basic.n + base64(pair, n, value + basic.n)};
    return true;
}

static bool take_login(const struct authority *a, struct parent *p, struct err *e)
{
    if (a->user.p == NULL)
        return true;
    if (!decode(a->user, &p->texts, &p->user, e) ||
        !decode(a->password, &p->texts, &p->password, e))
        return false;
    if (p->kind == PARENT_HTTP)
        return make_authorization(p, e);
    return (p->user.n > 0 && p->user.n <= LOGIN_MAX && p->password.n <= LOGIN_MAX) ||
           err_set(e, "user and password of a SOCKS proxy have 1 to %d bytes each",
                   LOGIN_MAX);
}

static bool take_host(const struct scheme *s, const struct authority *a,
                      struct parent *p, struct err *e)
{
    unsigned port = s->port;
    bool v6;
    char *name;
    size_t size;

    if (a->port.p != NULL && (!str_to_uint(a->port, PORT_MAX, &port) || port == 0))
        return err_set(e, "expected a port from 1 to %d behind \":\"", PORT_MAX);
    if (!target_set(&p->at, &p->texts, a->host, a->bracketed, port))
        return err_set(e, "expected a host name, an IPv4 address, or an IPv6 address "
                          "in brackets behind \"//\"");
    v6 = p->at.kind == HOST_ADDR && p->at.ip.family == 6;
    size = strlen(s->name) + p->at.host.n + sizeof "://[]:65535";
    name = arena_alloc(&p->texts, size);
    if (name == NULL)
        return err_set(e, "the URL is too long");
    snprintf(name, size, "%s://%s" STR_FMT "%s:%u", s->name, v6 ? "[" : "",
             STR_ARG(p->at.host), v6 ? "]" : "", port);
    p->name = name;
    return true;
}

bool parent_from_url(struct str url, struct parent *out, struct err *e)
{
    const struct scheme *scheme = NULL;
    struct authority a = {.bracketed = false};
    struct str rest = url;
    struct parent p = {.kind = PARENT_NONE};

    if (url.n > URL_MAX)
        return err_set(e, "a URL of %zu bytes; at most %d are taken", url.n, URL_MAX);
    if (has_odd_byte(url))
        return err_set(e, "a blank, a control character, a backslash or a letter "
                          "beyond ASCII in it (encode it as %%XX)");
    if (!cut_scheme(&rest, &scheme, e) || !split(rest, &a, e))
        return false;
    p.kind = scheme->kind;
    p.tls = scheme->tls;
    arena_init(&p.texts, TEXTS_MAX);
    if (!take_login(&a, &p, e) || !take_host(scheme, &a, &p, e)) {
        parent_done(&p);
        return false;
    }
    *out = p;
    return true;
}

bool parent_from_path(struct str path, struct parent *out, struct err *e)
{
    struct parent p = {.kind = PARENT_HTTP, .path.sun_family = AF_UNIX};
    char *name;

    if (path.n == 0 || path.p[0] != '/')
        return err_set(e, "expected an absolute path");
    if (path.n >= sizeof p.path.sun_path)
        return err_set(e, "a path of %zu bytes; a Unix socket can have %zu", path.n,
                       sizeof p.path.sun_path - 1);
    memcpy(p.path.sun_path, path.p, path.n);
    arena_init(&p.texts, TEXTS_MAX);
    name = arena_alloc(&p.texts, path.n + sizeof "unix:");
    if (name == NULL)
        return err_set(e, "the path is too long");
    snprintf(name, path.n + sizeof "unix:", "unix:" STR_FMT, STR_ARG(path));
    p.name = name;
    *out = p;
    return true;
}

void parent_done(struct parent *p)
{
    if (p->texts.base != NULL)
        explicit_bzero(p->texts.base, p->texts.size);
    arena_done(&p->texts);
    tls_context_unref(&p->context);
    *p = (struct parent){.kind = PARENT_NONE};
}
