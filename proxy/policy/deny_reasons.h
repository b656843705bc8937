/* deniedDomainReasons: what the user wants people to be told about a deny entry. */
#ifndef POLICY_DENY_REASONS_H
#define POLICY_DENY_REASONS_H

#include "proxy/policy/loading.h"

/* Of the current layer, after its deniedDomains are entered. A key names an entry by
 * its text, as srt has it; one that names none is worth a warning. */
bool deny_reasons_read(const struct loading *l, struct err *e);

#endif
