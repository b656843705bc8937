#include <stdio.h>
#include <string.h>

#include "proxy/base/log.h"
#include "proxy/cmd/cmd.h"

struct help {
    bool list;
};

static const struct option options[] = {
    {"list", 0, OPTION_HIDDEN_FLAG, offsetof(struct help, list), NULL,
     "all commands and options, for programs"},
    {.name = NULL},
};

static void print_overview(void)
{
    printf("usage: weir COMMAND [OPTION]... [ARGUMENT]...\n\n"
           "Weir decides what may leave: a proxy with an allow list, and a sandbox in\n"
           "which that proxy is the only way out.\n\n");
    for (size_t i = 0; cmd_table[i] != NULL; i++)
        printf("  %-10s %s\n", cmd_table[i]->name, cmd_table[i]->summary);
    printf("\nweir help COMMAND tells more.\n");
}

/* The name by which weir may be invoked has help, too. */
static const struct command *find(const char *name, struct err *e)
{
    return strcmp(name, cmd_srt.name) == 0 ? &cmd_srt : cmd_find(name, e);
}

/* What the completions of the shells read (proxy/data). */
static void print_list(void)
{
    for (size_t i = 0; cmd_table[i] != NULL; i++) {
        printf("%s . . . %s\n", cmd_table[i]->name, cmd_table[i]->summary);
        options_list(cmd_table[i]->name, cmd_table[i]->options);
    }
}

static int run(int argc, char **argv)
{
    struct help h = {false};
    const struct command *command;
    struct err e;
    int rest;

    if (!options_parse(options, &h, argc, argv, &rest, &e)) {
        log_error("help: %s", e.text);
        return EXIT_USAGE;
    }
    if (rest + 1 < argc) {
        log_error("help: \"%.40s\" is not expected", argv[rest + 1]);
        return EXIT_USAGE;
    }
    if (rest == argc) {
        h.list ? print_list() : print_overview();
        return EXIT_OK;
    }
    command = find(argv[rest], &e);
    if (command == NULL) {
        log_error("help: %s", e.text);
        return EXIT_USAGE;
    }
    if (h.list)
        options_list(command->name, command->options);
    else
        cmd_print_help(command);
    return EXIT_OK;
}

const struct command cmd_help = {
    .name = "help",
    .usage = "weir help [COMMAND]",
    .summary = "Tell what the commands do and which options they take",
    .options = options,
    .run = run,
};
