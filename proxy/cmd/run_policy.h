/* What a run may reach: from its settings and its --allow to what the core judges by.
 * The same at the start and whenever new settings come while it goes on. */
#ifndef CMD_RUN_POLICY_H
#define CMD_RUN_POLICY_H

#include "proxy/options.h"
#include "proxy/parents.h"
#include "proxy/settings.h"

#define ALLOW_LABEL "--allow: "

struct run_policy {
    struct policy *policy;   /* references of the owner */
    struct parents *parents; /* NULL: all connections are direct */
};

/* Errors and warnings name the settings' file, or --allow. */
bool run_policy_load(const struct settings *s, const struct option_texts *allow,
                     policy_warn_fn *warn, void *owner, struct run_policy *out,
                     struct err *e);
/* From one line of --control-fd `fd`, its `number`th, which may only change what can
 * change while a run goes on; `first` is what it began with. */
bool run_policy_update(const struct settings *first, const struct option_texts *allow,
                       const char *fd, unsigned long number, struct str line,
                       policy_warn_fn *warn, void *owner, struct run_policy *out,
                       struct err *e);
void run_policy_done(struct run_policy *p);

#endif
