/* How an entry or a host is written, without judging it: what predicates ask about. */
#ifndef ORACLE_SPELLING_H
#define ORACLE_SPELLING_H

#include "proxy/base/addr.h"

struct spelling {
    struct str host; /* without brackets and port, with "*." */
    struct str port; /* as written; empty when there is none */
    bool bracketed;
    bool zone;        /* '%' inside brackets */
    bool address;     /* dotted quad, or IPv6 */
    bool foreign;     /* a byte above 127 */
    bool odd_bytes;   /* ASCII that is no letter, digit, '-', '_', '.', '*' */
    bool upper;       /* a capital letter */
    bool dot_last;    /* exactly one dot at the end */
    bool empty_label; /* not counting the one after a dot at the end */
    bool long_label;  /* over 63 bytes, or 253 in all */
    bool long_name;
    bool number_last; /* the last label is digits, or 0x and hexadecimal digits */
    bool punycode;    /* a label begins with "xn--" */
    bool wildcard;    /* begins with "*." */
    unsigned stars;   /* behind that */
    unsigned labels;
};

/* `text` is host, host:port, [v6] or [v6]:port. */
struct spelling spelling_of(struct str text);

#endif
