/* Sentences from people (reasons of a deny list) and from below (errors), made fit to
 * be shown: nothing in them may end a line, hide, or be taken for markup. */
#ifndef PROXY_WORDING_H
#define PROXY_WORDING_H

#include "proxy/base/str.h"

enum { WORDING_MAX = 500 }; /* bytes */

enum wording {
    WORDING_ASCII = 0, /* each other character is one "?": status phrases */
    WORDING_UTF8,
};

/* A run of blanks, control and invisible characters becomes one blank, none at the
 * ends; < and > are dropped; what is not UTF-8 becomes "?"; cut between characters at
 * WORDING_MAX. `out` is NUL-terminated and returned. */
const char *wording_clean(struct str text, enum wording kind,
                          char out[WORDING_MAX + 1]);

#endif
