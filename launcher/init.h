/* Process 1 of the sandbox's PID namespace. It collects what others leave behind, and
 * with it the kernel kills everything inside: that is how nothing stays. */
#ifndef LAUNCHER_INIT_H
#define LAUNCHER_INIT_H

/* After INIT_END the processes that are left get SIGTERM and this long to end. */
enum { INIT_GRACE_MS = 500 };

/* What the supervisor writes to the lifeline when the command has ended. */
#define INIT_END 'E'

/* `lifeline` closes when the supervisor dies. Everything else that is open gets closed.
 * Never returns. */
_Noreturn void init_run(int lifeline);

#endif
