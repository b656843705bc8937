/* Standard input, output and error go to the command as they are. Some things there
 * would be a way out, and are refused. */
#ifndef LAUNCHER_STDIO_H
#define LAUNCHER_STDIO_H

#include "proxy/base/err.h"

/* Opens /dev/null on those of 0 to 2 that are closed, so that nothing of ours gets
 * these numbers. To be called before anything else is opened. */
bool stdio_fill(struct err *e);

/* On false *e names the descriptor, why it is a way out, and what to do. */
bool stdio_check(struct err *e);

/* Inside: what is /dev/null of the host becomes the sandbox's own. By the former, root
 * could change the mode of the node for the whole host. */
bool stdio_renew(struct err *e);

#endif
