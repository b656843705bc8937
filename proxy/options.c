#include "proxy/options.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proxy/base/json.h"

enum {
    TABLE_MAX = 64,
    HELP_COLUMN = 28,
    UINT_VALUE_MAX = 999999999, /* what str_to_uint() reads */
};

/* A command line on its way through: a word may hold several letters ("-qv"). */
struct words {
    const struct option *table;
    char **argv;
    int argc, next;
    const char *letters; /* the rest of such a word; NULL or "" when there is none */
};

/* One option as it was given. */
struct given {
    const struct option *option; /* NULL: the options are over */
    const char *value;           /* NULL for a flag */
};

static const struct option *by_name(const struct option *table, struct str name)
{
    for (; table->name != NULL; table++)
        if (str_equal(str_from(table->name), name))
            return table;
    return NULL;
}

static const struct option *by_letter(const struct option *table, char letter)
{
    for (; table->name != NULL; table++)
        if (table->letter != 0 && table->letter == letter)
            return table;
    return NULL;
}

static bool is_flag(const struct option *o)
{
    return o->type == OPTION_FLAG || o->type == OPTION_HIDDEN_FLAG;
}

static bool unknown(const struct option *table, struct str name, struct err *e)
{
    const char *known[TABLE_MAX + 1] = {NULL}, *near;
    char word[64];
    size_t count = 0;

    for (; table->name != NULL; table++) {
        assert(count < TABLE_MAX);
        if (table->type != OPTION_HIDDEN_FLAG)
            known[count++] = table->name;
    }
    snprintf(word, sizeof word, STR_FMT, STR_ARG(name));
    near = json_near(word, known);
    if (near == NULL)
        return err_set(e, "unknown option --%s", word);
    return err_set(e, "unknown option --%s (did you mean --%s?)", word, near);
}

/* `attached` is what stands in the same word; NULL when the value is the next word. */
static bool take_value(struct words *w, struct given *g, const char *attached,
                       struct err *e)
{
    const struct option *o = g->option;

    g->value = attached;
    if (attached == NULL && w->next < w->argc)
        g->value = w->argv[w->next++];
    if (g->value == NULL)
        return err_set(e, "--%s takes a %s", o->name, o->value);
    return g->value[0] != '\0' ||
           err_set(e, "--%s: the value is empty, expected a %s", o->name, o->value);
}

static bool next_long(struct words *w, const char *word, struct given *g, struct err *e)
{
    const char *equals = strchr(word, '=');
    struct str name = {word, equals != NULL ? (size_t)(equals - word) : strlen(word)};

    g->option = by_name(w->table, name);
    if (g->option == NULL)
        return unknown(w->table, name, e);
    if (!is_flag(g->option))
        return take_value(w, g, equals != NULL ? equals + 1 : NULL, e);
    return equals == NULL || err_set(e, "--%s takes no value", g->option->name);
}

static bool next_letter(struct words *w, struct given *g, struct err *e)
{
    char letter = *w->letters++;
    const char *attached = w->letters;

    g->option = by_letter(w->table, letter);
    if (g->option == NULL)
        return err_set(e, "unknown option -%c", letter);
    if (is_flag(g->option))
        return true;
    w->letters = NULL;
    return take_value(w, g, *attached != '\0' ? attached : NULL, e);
}

static bool next_given(struct words *w, struct given *g, struct err *e)
{
    const char *word = w->next < w->argc ? w->argv[w->next] : "";

    *g = (struct given){NULL, NULL};
    if (w->letters != NULL && *w->letters != '\0')
        return next_letter(w, g, e);
    if (word[0] != '-' || word[1] == '\0')
        return true;
    w->next++;
    if (strcmp(word, "--") == 0)
        return true;
    if (word[1] == '-')
        return next_long(w, word + 2, g, e);
    w->letters = word + 1;
    return next_letter(w, g, e);
}

static bool store(const struct given *g, void *into, struct err *e)
{
    const struct option *o = g->option;
    void *member = (char *)into + o->offset;
    struct option_texts *texts = member;

    switch (o->type) {
    case OPTION_FLAG:
    case OPTION_HIDDEN_FLAG:
        *(bool *)member = true;
        return true;
    case OPTION_TEXT:
        *(const char **)member = g->value;
        return true;
    case OPTION_TEXTS:
        if (texts->count == OPTION_TEXTS_MAX)
            return err_set(e, "--%s: more than %d times", o->name, OPTION_TEXTS_MAX);
        texts->values[texts->count++] = g->value;
        return true;
    case OPTION_UINT:
        return str_to_uint(str_from(g->value), UINT_VALUE_MAX, member) ||
               err_set(e, "--%s: \"%.40s\" is no number from 0 to %d", o->name,
                       g->value, UINT_VALUE_MAX);
    }
    return false;
}

bool options_parse(const struct option *table, void *into, int argc, char **argv,
                   int *rest, struct err *e)
{
    struct words w = {.table = table, .argv = argv, .argc = argc, .next = 1};
    struct given g;

    do {
        if (!next_given(&w, &g, e))
            return false;
        if (g.option != NULL && !store(&g, into, e))
            return false;
    } while (g.option != NULL);
    *rest = w.next;
    return true;
}

bool options_ask_help(const struct option *table, int argc, char **argv)
{
    struct words w = {.table = table, .argv = argv, .argc = argc, .next = 1};
    struct given g;
    struct err e;

    do {
        const char *word = w.next < argc ? argv[w.next] : "";

        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
            return true;
    } while (next_given(&w, &g, &e) && g.option != NULL);
    return false;
}

void options_help(const struct option *table)
{
    for (; table->name != NULL; table++) {
        char left[HELP_COLUMN * 2], letter[] = "-x, ";

        if (table->type == OPTION_HIDDEN_FLAG)
            continue;
        letter[1] = table->letter;
        snprintf(left, sizeof left, "  %s--%s%s%s",
                 table->letter != 0 ? letter : "    ", table->name,
                 table->value != NULL ? " " : "",
                 table->value != NULL ? table->value : "");
        printf("%-*s %s\n", HELP_COLUMN, left, table->help);
    }
}

void options_list(const char *command, const struct option *table)
{
    for (; table->name != NULL; table++) {
        char letter[] = "-x";

        if (table->type == OPTION_HIDDEN_FLAG)
            continue;
        letter[1] = table->letter;
        printf("%s --%s %s %s %s\n", command, table->name,
               table->letter != 0 ? letter : ".",
               table->value != NULL ? table->value : ".", table->help);
    }
}
