/* What was refused while a sandbox ran, counted, for a few lines at its end. */
#ifndef PROXY_SUMMARY_H
#define PROXY_SUMMARY_H

#include <stdio.h>

#include "proxy/audit.h"

struct summary;

struct summary *summary_new(void);
void summary_free(struct summary **s);

/* Counts the event when policy refused it. A server that could not be had is no
 * refusal, nor is a client that left. */
void summary_add(struct summary *s, const struct audit_event *event);

/* Nothing when nothing was refused. `settings` is the file where the allow list stands;
 * NULL when there is none. */
void summary_print(const struct summary *s, const char *settings, FILE *out);

#endif
