/* Whether `weir run` would take the `filesystem` of the settings, started here. */
#ifndef CMD_CHECK_FILES_H
#define CMD_CHECK_FILES_H

#include "proxy/cmd/judge.h"

/* True also when there are no settings. Warnings and errors have the file in front. */
bool check_files(const struct judge *j, policy_warn_fn *warn, void *owner,
                 struct err *e);

#endif
