/* The subcommand table, nothing else. */
#include "proxy/cmd/cmd.h"

int main(int argc, char **argv)
{
    return cmd_main(argc, argv);
}
