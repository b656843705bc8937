#include <stdio.h>

#include "proxy/base/log.h"
#include "proxy/cmd/cmd.h"

static const struct option options[] = {{.name = NULL}};

static int run(int argc, char **argv)
{
    struct err e;
    int rest;

    if (!options_parse(options, NULL, argc, argv, &rest, &e)) {
        log_error("version: %s", e.text);
        return EXIT_USAGE;
    }
    if (rest < argc) {
        log_error("version: \"%.40s\" is not expected", argv[rest]);
        return EXIT_USAGE;
    }
    printf("weir %s\n", WEIR_VERSION);
    return EXIT_OK;
}

const struct command cmd_version = {
    .name = "version",
    .usage = "weir version",
    .summary = "Print the version",
    .options = options,
    .run = run,
};
