/* Internationalised labels, as people type them, to what goes over the wire. */
#ifndef BASE_IDN_H
#define BASE_IDN_H

#include "proxy/base/str.h"

enum { IDN_LABEL_SIZE = 64 }; /* an A-label has at most 63 bytes, and a NUL */

/* One label of UTF-8 to its A-label ("bücher" to "xn--bcher-kva"), by IDNA 2008 with
 * the mapping of UTS 46 (nontransitional): letters fold, width and composition vanish.
 * False when it is no valid label, when the result is too long, or when it maps to more
 * than one label (an ideographic full stop is a dot). */
bool idn_to_ascii(struct str label, char out[IDN_LABEL_SIZE]);

#endif
