/* Command lines as tables: one parser for all commands. Options stop at the first word
 * that is not one, or behind "--". "--name VALUE", "--name=VALUE", "-n VALUE",
 * "-nVALUE"; an unknown option is an error with a near match. */
#ifndef PROXY_OPTIONS_H
#define PROXY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "proxy/base/err.h"

enum option_type {
    OPTION_FLAG,  /* bool */
    OPTION_TEXT,  /* const char *, the last one wins */
    OPTION_TEXTS, /* struct option_texts, may be repeated */
    OPTION_UINT,  /* unsigned */
    OPTION_HIDDEN_FLAG,
};

enum { OPTION_TEXTS_MAX = 256 };
struct option_texts {
    const char *values[OPTION_TEXTS_MAX];
    size_t count;
};

struct option {
    const char *name; /* long, without dashes; NULL ends the table */
    char letter;      /* 0: none */
    enum option_type type;
    size_t offset;     /* of the member in the command's struct */
    const char *value; /* what the help calls it: "FILE"; NULL for a flag */
    const char *help;  /* one line */
};

/* Fills `into` and leaves *rest at the first word that is no option; argv[0] is the
 * command. What is not given stays as it is. */
bool options_parse(const struct option *table, void *into, int argc, char **argv,
                   int *rest, struct err *e);
/* --help or -h among the options, whatever else is wrong with those behind it. */
bool options_ask_help(const struct option *table, int argc, char **argv);
/* The lines of help for a table, to stdout. */
void options_help(const struct option *table);
/* The same for programs, a line each, "." for what there is not:
 * "COMMAND --name -n VALUE help". */
void options_list(const char *command, const struct option *table);

#endif
