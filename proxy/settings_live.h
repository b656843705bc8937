/* Which settings may change while a command runs: those of who may be reached, which
 * the core judges by. What the sandbox was made from, and what may already have been
 * handed to the command, cannot. */
#ifndef PROXY_SETTINGS_LIVE_H
#define PROXY_SETTINGS_LIVE_H

#include "proxy/settings.h"

/* May `next` take the place of `now`, with which the run began? On false *e names file,
 * line and key of `next` that would need another run. */
bool settings_check_live(const struct settings *now, const struct settings *next,
                         struct err *e);

#endif
