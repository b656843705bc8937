#include "dns/hosts.h"

#include <ctype.h>
#include <stdlib.h>

#include "dns/stamp.h"
#include "proxy/base/fd.h"
#include "proxy/base/target.h"

enum {
    FILE_MAX = 32 << 20, /* bytes; lists of hundreds of thousands of names exist */
};
static const double LOOK_EVERY = 1; /* seconds between two looks at the file */

struct host {
    char *name;   /* points into the text; NUL-terminated, lower case */
    size_t order; /* of the file: the answer keeps it */
    struct ip ip;
};

struct hosts {
    char *path;
    struct stamp stamp;
    bool broken;        /* the file is there and could not be read */
    char *text;         /* what the names point into */
    struct host *table; /* sorted by name, then order */
    size_t count, room;
};

struct hosts *hosts_new(const char *path)
{
    struct hosts *h = calloc(1, sizeof *h);

    if (h == NULL || (h->path = strdup(path)) == NULL)
        abort();
    return h;
}

static void forget(struct hosts *h)
{
    free(h->text);
    free(h->table);
    h->text = NULL;
    h->table = NULL;
    h->count = h->room = 0;
}

void hosts_free(struct hosts **h)
{
    if (*h == NULL)
        return;
    forget(*h);
    free((*h)->path);
    free(*h);
    *h = NULL;
}

static void add(struct hosts *h, char *name, const struct ip *ip)
{
    if (h->count == h->room) {
        h->room = h->room > 0 ? 2 * h->room : 16;
        h->table = reallocarray(h->table, h->room, sizeof *h->table);
        if (h->table == NULL)
            abort();
    }
    h->table[h->count] = (struct host){name, h->count, *ip};
    h->count++;
}

/* The next word of the line, in place, NUL-terminated; NULL at its end. */
static char *next_word(char **line)
{
    static const char blanks[] = " \t\r\v\f";
    char *word = *line + strspn(*line, blanks);

    *line = word + strcspn(word, blanks);
    if (**line != '\0')
        *(*line)++ = '\0';
    return *word != '\0' ? word : NULL;
}

/* Lower case, and without the dot at the end, as the names that are looked up. */
static void canonical(char *name)
{
    size_t n = strlen(name);

    if (n > 1 && name[n - 1] == '.')
        name[n - 1] = '\0';
    for (; *name != '\0'; name++)
        *name = (char)(*name >= 'A' && *name <= 'Z' ? *name + ('a' - 'A') : *name);
}

static void parse_line(struct hosts *h, char *line)
{
    struct ip ip;
    char *word;

    line[strcspn(line, "#")] = '\0';
    word = next_word(&line);
    if (word == NULL || !ip_parse(str_from(word), &ip))
        return;
    while ((word = next_word(&line)) != NULL) {
        canonical(word);
        add(h, word, &ip);
    }
}

static int by_name(const void *a, const void *b)
{
    const struct host *x = a, *y = b;
    int c = strcmp(x->name, y->name);

    return c != 0 ? c : (x->order > y->order) - (x->order < y->order);
}

void hosts_parse(struct hosts *h, struct str text)
{
    char *line;

    forget(h);
    h->text = line = strndup(text.p, text.n);
    if (line == NULL)
        abort();
    while (*line != '\0') {
        char *end = line + strcspn(line, "\n");
        bool last = *end == '\0';

        *end = '\0';
        parse_line(h, line);
        line = last ? end : end + 1;
    }
    if (h->count > 0)
        qsort(h->table, h->count, sizeof *h->table, by_name);
}

static void reread(struct hosts *h)
{
    struct err e;
    char *text;
    size_t len;

    h->broken = false;
    if (!h->stamp.there) {
        forget(h);
        return;
    }
    if (!fd_read_file(h->path, FILE_MAX, &text, &len, &e)) {
        h->broken = true;
        return;
    }
    hosts_parse(h, (struct str){text, len});
    free(text);
}

static struct answer *from_table(const struct hosts *h, const char *name)
{
    size_t low = 0, high = h->count;
    struct answer *a;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(h->table[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == h->count || strcmp(h->table[low].name, name) != 0)
        return NULL;
    a = answer_new(LOOKUP_OK, NULL);
    for (size_t i = low; i < h->count && strcmp(h->table[i].name, name) == 0; i++)
        answer_add(a, &h->table[i].ip);
    return answer_finish(a);
}

static bool is_under(const char *name, struct str top)
{
    struct str s = str_from(name);

    return str_ends(s, top) && (s.n == top.n || s.p[s.n - top.n - 1] == '.');
}

/* Servers must not be asked for these: RFC 6761 6.3 and 6.4, RFC 7686 2. */
static struct answer *special(const char *name)
{
    static const struct ip v4 = {4, {127, 0, 0, 1}}, v6 = {6, {[15] = 1}};
    struct answer *a;

    if (is_under(name, STR("invalid")) || is_under(name, STR("onion")))
        return answer_finish(answer_new(LOOKUP_NOT_FOUND, "no such name"));
    if (!is_under(name, STR("localhost")))
        return NULL;
    a = answer_new(LOOKUP_OK, NULL);
    answer_add(a, &v4);
    answer_add(a, &v6);
    return answer_finish(a);
}

struct answer *hosts_lookup(struct hosts *h, const char *name, double now)
{
    struct answer *a = NULL;

    if (h->path[0] != '\0' && stamp_changed(&h->stamp, h->path, now, LOOK_EVERY))
        reread(h);
    if (h->broken)
        return answer_finish(
            answer_new(LOOKUP_FAILED, "the hosts file cannot be read"));
    a = from_table(h, name);
    return a != NULL ? a : special(name);
}
