#include "tests/oracle/vectors.h"

#include <stdlib.h>

#include "proxy/base/err.h"

static void next_line(struct reader *r)
{
    ssize_t n;

    do {
        n = getline(&r->line, &r->size, r->in);
        r->number++;
    } while (n > 0 && r->line[0] == '#');
    if (n <= 0) {
        free(r->line);
        r->line = NULL;
        return;
    }
    if (r->line[n - 1] == '\n')
        r->line[n - 1] = '\0';
}

void reader_init(struct reader *r, FILE *in)
{
    *r = (struct reader){.in = in};
    next_line(r);
}

void reader_done(struct reader *r)
{
    free(r->line);
    *r = (struct reader){0};
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* %XX becomes the byte, a "%" alone the empty word. */
static bool unescape(struct arena *a, struct str word, struct str *out)
{
    char *to = arena_alloc(a, word.n + 1);
    size_t n = 0;

    if (to == NULL)
        return false;
    for (size_t i = 0; i < word.n && !str_equal(word, STR("%")); i++) {
        if (word.p[i] != '%') {
            to[n++] = word.p[i];
            continue;
        }
        if (i + 2 >= word.n || hex_digit(word.p[i + 1]) < 0 ||
            hex_digit(word.p[i + 2]) < 0)
            return false;
        to[n++] = (char)(hex_digit(word.p[i + 1]) * 16 + hex_digit(word.p[i + 2]));
        i += 2;
    }
    to[n] = '\0';
    *out = (struct str){to, n};
    return true;
}

/* "a1 example.com" */
static bool read_entry(struct group *g, struct str line)
{
    struct entry *e = &g->entries[g->entry_count];
    struct str word = str_cut(&line, ' ');
    bool told = word.n == 2 && (word.p[1] == '0' || word.p[1] == '1');

    if (g->entry_count == ENTRIES_MAX || (word.n != 1 && !told))
        return false;
    *e = (struct entry){.kind = word.p[0], .srt = told && word.p[1] == '1'};
    g->entry_count++;
    return unescape(&g->text, line, &e->text);
}

/* Hexadecimal. */
static bool read_bits(struct str word, unsigned *out)
{
    *out = 0;
    if (word.n == 0 || word.n > 8)
        return false;
    for (size_t i = 0; i < word.n; i++) {
        int digit = hex_digit(word.p[i]);

        if (digit < 0)
            return false;
        *out = *out << 4 | (unsigned)digit;
    }
    return true;
}

/* What srt parsed as the host of `raw`, in lower case: its canonical form when the
 * vector says "=". */
static bool plain_canonical(struct group *g, struct ask *ask)
{
    struct str host = ask->raw;
    size_t end = host.n;
    char *p;

    if (ask->form == 'C') {
        while (end > 0 && host.p[end - 1] != ':')
            end--;
        if (end == 0)
            return false;
        host = str_head(host, end - 1);
        if (host.n > 1 && host.p[0] == '[' && host.p[host.n - 1] == ']')
            host = (struct str){host.p + 1, host.n - 2};
    }
    ask->canonical = arena_dup(&g->text, host);
    p = (char *)ask->canonical.p;
    if (p == NULL)
        return false;
    for (size_t i = 0; i < host.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] |= 0x20;
    return true;
}

/* "C example.com:443 443 = 1 A"; "1+2" when an entry is meant that srt overlooks. */
static bool read_ask(struct group *g, struct str line)
{
    struct ask *ask = &g->asks[g->ask_count];
    struct str form = str_cut(&line, ' '), raw = str_cut(&line, ' ');
    struct str port = str_cut(&line, ' '), canonical = str_cut(&line, ' ');
    struct str bits = str_cut(&line, ' ');

    if (g->ask_count == ASKS_MAX || line.n != 1)
        return false;
    g->ask_count++;
    *ask = (struct ask){.form = form.p[0], .letter = line.p[0]};
    if (!unescape(&g->text, raw, &ask->raw) || !str_to_uint(port, 65535, &ask->port) ||
        !read_bits(str_cut(&bits, '+'), &ask->bits) ||
        (bits.n > 0 && !read_bits(bits, &ask->meant)))
        return false;
    ask->unparsed = str_equal(canonical, STR("?"));
    if (ask->letter == 'X' || ask->letter == 'M')
        return true;
    if (ask->unparsed || str_equal(canonical, STR("=")))
        return plain_canonical(g, ask);
    return unescape(&g->text, canonical, &ask->canonical);
}

static bool read_name(struct group *g, struct str line)
{
    if (g->name_count == NAMES_MAX)
        return false;
    g->names[g->name_count] = arena_dup(&g->text, str_skip(line, 2));
    return g->names[g->name_count++].p != NULL;
}

/* "x 127.0.0.1 llpn" */
static bool read_address(struct group *g, struct str line)
{
    struct resolved *x = &g->addresses[g->address_count];

    if (g->address_count == ASKS_MAX)
        return false;
    g->address_count++;
    str_cut(&line, ' ');
    x->text = arena_dup(&g->text, str_cut(&line, ' '));
    x->letters = arena_dup(&g->text, line);
    return x->text.p != NULL && x->letters.p != NULL && x->letters.n == g->name_count &&
           ip_parse(x->text, &x->ip);
}

static bool read_line(struct group *g, struct str line)
{
    if (line.n < 3)
        return false;
    if (strchr("adrip", line.p[0]) != NULL)
        return read_entry(g, line);
    if (strchr("CR", line.p[0]) != NULL)
        return read_ask(g, line);
    if (line.p[0] == 'n')
        return read_name(g, line);
    return line.p[0] == 'x' && read_address(g, line);
}

static bool starts_group(const char *line)
{
    return strcmp(line, "G") == 0 || strcmp(line, "H") == 0;
}

int group_read(struct reader *r, struct group *g, struct err *e)
{
    if (r->line == NULL)
        return 0;
    *g = (struct group){.kind = r->line[0], .line = r->number};
    arena_init(&g->text, GROUP_TEXT_MAX);
    if (!starts_group(r->line)) {
        err_set(e, "line %u: expected G or H", r->number);
        return -1;
    }
    for (next_line(r); r->line != NULL && !starts_group(r->line); next_line(r)) {
        if (!read_line(g, str_from(r->line))) {
            err_set(e, "line %u: \"%s\" is no line of a group", r->number, r->line);
            return -1;
        }
    }
    return 1;
}

void group_done(struct group *g)
{
    arena_done(&g->text);
}
