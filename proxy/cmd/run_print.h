/* What `weir run --explain` prints, and what --verbose tells. */
#ifndef CMD_RUN_PRINT_H
#define CMD_RUN_PRINT_H

#include "launcher/launcher.h"
#include "proxy/audit.h"
#include "proxy/options.h"
#include "proxy/parents.h"
#include "proxy/settings.h"

void run_print(const struct plan *plan, const struct settings *settings,
               const struct launcher *launcher, const struct option_texts *allow,
               const struct parents *parents);

/* One request that has ended, to the log at debug level. */
void run_print_event(const struct audit_event *event);

#endif
