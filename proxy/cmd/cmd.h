/* The subcommands. Each has one file here and one line in the table of cmd.c. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "proxy/options.h"

enum {
    EXIT_OK = 0,
    EXIT_DENIED = 1, /* check: at least one target is denied */
    EXIT_USAGE = 2,  /* check, gateway, help: settings, options or input unusable */
    EXIT_WEIR = 125, /* run: Weir's own refusal or error, nothing was started */
    EXIT_NOT_EXEC = 126,
    EXIT_NOT_FOUND = 127,
};

struct command {
    const char *name;
    const char *usage;   /* "weir check [-s FILE | -f FILE] TARGET..." */
    const char *summary; /* one line */
    const struct option *options;
    const char *details;               /* more help, may be NULL */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct command cmd_run, cmd_gateway, cmd_check, cmd_help, cmd_version;
/* Not in the table: weir is this when it is invoked by that name. */
extern const struct command cmd_srt;

int cmd_main(int argc, char **argv);
/* Usage, options and details, to stdout. */
void cmd_print_help(const struct command *command);
/* NULL, with the near match in *e, when there is none of that name. */
const struct command *cmd_find(const char *name, struct err *e);
/* NULL-terminated. */
extern const struct command *const cmd_table[];

#endif
