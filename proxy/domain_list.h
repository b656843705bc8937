/* A plain list of domains, as other tools keep them: one or more a line, with commas
 * between, "#" begins a comment, ".example.com" means the domain and all below it. It
 * becomes the text of a settings file, line for line, so that what is said about a line
 * of one is true of the other. */
#ifndef PROXY_DOMAIN_LIST_H
#define PROXY_DOMAIN_LIST_H

#include "proxy/base/buf.h"
#include "proxy/base/err.h"

/* False when `out` is full, or a line cannot be taken over; *e names it. */
bool domain_list_convert(struct str list, struct buf *out, struct err *e);

#endif
