/* One entry of allowedDomains or deniedDomains, made canonical as hosts are (see
 * target.h), so that matching is comparing bytes. What has no single meaning, and what
 * could never match, is refused with what to write instead. */
#ifndef POLICY_PATTERN_H
#define POLICY_PATTERN_H

#include "proxy/base/addr.h"
#include "proxy/base/err.h"
#include "proxy/base/target.h"

enum pattern_use { PATTERN_ALLOW = 0, PATTERN_DENY };

enum pattern_kind {
    PATTERN_NONE = 0,
    PATTERN_NAME,  /* this name */
    PATTERN_BELOW, /* "*.name": every name below, at any depth, not the name itself */
    PATTERN_ANY,   /* "*": every name and address; in deny lists only */
    PATTERN_ADDR,  /* this address; IPv4-mapped is IPv4 */
};

struct pattern {
    enum pattern_kind kind;
    unsigned first_port, last_port; /* 1 and 65535 when the entry names none */
    struct ip ip;                   /* of PATTERN_ADDR */
    bool has_inner_star;            /* a label of the name is "*": any one label */
    struct str name;                /* of NAME and BELOW; into text[], NUL behind it */
    char text[HOST_NAME_MAX_LEN + 1];
};

/* Forms: `name`, `*.name`, `a.*.b` (one star inside, for exactly one label), IPv4,
 * `[IPv6]`, and `*` to deny; each with `:port` or `:port-port` or neither. Names are
 * folded, lose one trailing dot, and become A-labels.
 *
 * Of names with one label only `localhost` is taken; the name below which a wildcard to
 * allow stands has two labels or more (suffix.h says more about it).
 *
 * On false *e says why and what to write, without the entry itself. `p` may not be
 * copied by value afterwards: its name points into it. */
bool pattern_parse(struct str entry, enum pattern_use use, struct pattern *p,
                   struct err *e);

/* The part of the name right of its last star: what the owner of a star's domain would
 * have to own. The whole name when there is no star inside. */
const char *pattern_base(const struct pattern *p);

/* An entry to allow this target can be written: its host is an address or a name that
 * an entry may have. Asked before somebody is told to add it. */
bool pattern_can_name(const struct target *t);

bool pattern_has_port(const struct pattern *p);

#endif
