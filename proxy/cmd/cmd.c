#include "proxy/cmd/cmd.h"

#include <stdio.h>
#include <string.h>

const struct command *const cmd_table[] = {NULL};

int cmd_main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && cmd_table[i] != NULL; i++)
        if (strcmp(cmd_table[i]->name, argv[1]) == 0)
            return cmd_table[i]->run(argc - 1, argv + 1);
    fprintf(stderr, "weir: usage: weir COMMAND ...; see weir help\n");
    return EXIT_USAGE;
}
