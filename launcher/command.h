/* The last steps of the process that becomes the command. */
#ifndef LAUNCHER_COMMAND_H
#define LAUNCHER_COMMAND_H

#include "launcher/supervisor.h"

/* What stands on the report pipe when something failed before exec; it closes on exec.
 */
struct command_report {
    int status; /* 125, 126 or 127 */
    char text[512];
};

/* In the sandbox's PID namespace. Never returns: becomes the command, or writes a
 * command_report and exits. */
_Noreturn void command_become(const struct supervisor *s, int report);

#endif
