/* The process between the core and the command: in the command's user and mount
 * namespace, but outside its PID namespace, where the command cannot reach it. It
 * starts init and command, passes signals in and states out, and ends both. */
#ifndef LAUNCHER_SUPERVISOR_H
#define LAUNCHER_SUPERVISOR_H

#include <signal.h>

#include "launcher/keeper.h"
#include "launcher/masks.h"
#include "launcher/plan.h"

struct supervisor {
    const struct plan *plan;
    const struct masks *masks;
    struct keeper *keeper;
    int leash;     /* to the core */
    pid_t core;    /* our parent: stops and goes on as the command does */
    sigset_t mask; /* what the command starts with */
    mode_t umask;  /* likewise */
};

/* Starts the command and stays until all has ended. False, with *e set, when it could
 * not be started; otherwise never returns. */
bool supervisor_run(const struct supervisor *s, struct err *e);

#endif
