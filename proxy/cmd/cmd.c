#include "proxy/cmd/cmd.h"

#include <stdio.h>
#include <string.h>

#include "proxy/base/json.h"
#include "proxy/base/log.h"

/* In the order in which help lists them. */
const struct command *const cmd_table[] = {
    &cmd_run, &cmd_gateway, &cmd_check, &cmd_help, &cmd_version, NULL,
};

enum { COMMANDS_MAX = 32 };
_Static_assert(sizeof cmd_table / sizeof *cmd_table <= COMMANDS_MAX, "room for names");

/* Options that stand for commands. */
static const struct {
    const char *option, *command;
} shorthands[] = {
    {"--help", "help"},
    {"-h", "help"},
    {"--version", "version"},
    {"-V", "version"},
};

static const char *expand(const char *word)
{
    for (size_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++)
        if (strcmp(shorthands[i].option, word) == 0)
            return shorthands[i].command;
    return word;
}

const struct command *cmd_find(const char *name, struct err *e)
{
    const char *known[COMMANDS_MAX] = {NULL}, *near;

    for (size_t i = 0; cmd_table[i] != NULL; i++) {
        known[i] = cmd_table[i]->name;
        if (strcmp(name, known[i]) == 0)
            return cmd_table[i];
    }
    near = json_near(name, known);
    if (near == NULL)
        err_set(e, "there is no command \"%.40s\"; see weir help", name);
    else
        err_set(e, "there is no command \"%.40s\" (did you mean \"%s\"?)", name, near);
    return NULL;
}

void cmd_print_help(const struct command *command)
{
    printf("usage: %s\n\n%s\n\noptions:\n", command->usage, command->summary);
    options_help(command->options);
    printf("  -h, --help                 print this\n");
    if (command->details != NULL)
        printf("\n%s", command->details);
}

static bool is_named(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');

    return strcmp(slash != NULL ? slash + 1 : path, name) == 0;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    int status = EXIT_OK;

    if (options_ask_help(command->options, argc, argv))
        cmd_print_help(command);
    else
        status = command->run(argc, argv);
    /* What could not be written was not said, whatever the status says. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        log_error("cannot write to standard output");
        return EXIT_USAGE;
    }
    return status;
}

int cmd_main(int argc, char **argv)
{
    const struct command *command;
    struct err e;

    if (argc > 0 && is_named(argv[0], cmd_srt.name))
        return run_command(&cmd_srt, argc, argv);
    if (argc < 2) {
        log_error("expected a command; see weir help");
        return EXIT_USAGE;
    }
    command = cmd_find(expand(argv[1]), &e);
    if (command == NULL) {
        log_error("%s", e.text);
        return EXIT_USAGE;
    }
    return run_command(command, argc - 1, argv + 1);
}
