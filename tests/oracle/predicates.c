/* The differences that are meant. The first that holds, in the order of the table, has
 * the hit. */
#include "tests/oracle/predicates.h"

#define CANONICAL "DESIGN 5: patterns are canonicalised as hosts are or refused"
#define NEVER     "DESIGN 5: no pattern that can never match loads"
#define GRAMMAR   "srt.md 27 (2): validate patterns by label grammar"
#define FORMS     "DESIGN 5: forms name, *.name, a.*.b, each with :port or :port-port"
#define TARGET \
    "DESIGN 1.1, srt.md 27 (2): a target is labels of letters, digits, - and _"
#define DECODED "DESIGN 5, srt.md 27 (9): IPv4 is decoded out of more forms"

static const struct predicate table[] = {
    {"entry-bytes", DIFF_ENTRY, false, GRAMMAR,
     "a byte that no host has: the entry can never match", entry_odd_bytes},
    {"entry-zone", DIFF_ENTRY, false, CANONICAL,
     "a zone is no part of a destination; srt drops it without a word", entry_zone},
    {"entry-brackets", DIFF_ENTRY, false, FORMS, "brackets are for IPv6 only",
     entry_brackets},
    {"entry-empty-label", DIFF_ENTRY, false, GRAMMAR,
     "two dots with nothing between them", entry_empty_label},
    {"entry-long", DIFF_ENTRY, false, GRAMMAR,
     "a label over 63 bytes or a name over 253", entry_long},
    {"entry-number", DIFF_ENTRY, false,
     "srt.md 27 (2): refuse non-canonical IP spellings",
     "it ends in a number and is no dotted quad: a deny of 127.1 would never match",
     entry_number},
    {"entry-star", DIFF_ENTRY, false, FORMS, "a star within a label, or two inside",
     entry_never},
    {"entry-foreign-dot", DIFF_ENTRY, false, GRAMMAR,
     "a dot of another script: IDNA leaves it to whoever types, and no file is typed "
     "into",
     entry_foreign_dot},
    {"entry-idn", DIFF_ENTRY, false, NEVER, "no A-label exists for it", entry_no_idn},
    {"entry-public-suffix", DIFF_ENTRY, false,
     "DESIGN 5: a wildcard directly over an ICANN public suffix is refused",
     "it would match the names of anybody", entry_public_suffix},
    {"range-zone", DIFF_ENTRY, false, CANONICAL,
     "an IPv4 address with a zone, which srt drops without a word", range_zone},
    {"deny-range", DIFF_ENTRY, false, FORMS, "a range of ports in a deny list",
     more_range},
    {"deny-dot", DIFF_ENTRY, false, CANONICAL, "one trailing dot in a deny list",
     more_dot},
    {"deny-star", DIFF_ENTRY, false, FORMS, "a.*.b in a deny list", more_star},
    {"deny-case", DIFF_ENTRY, false, CANONICAL, "LOCALHOST in a deny list", more_case},
    {"deny-top-level", DIFF_ENTRY, false, FORMS,
     "*.com in a deny list: it denies more than srt lets one deny", more_top_level},
    {"target-brackets", DIFF_TARGET, false, TARGET,
     "brackets around something else than IPv6, or in a bare host", target_brackets},
    {"target-port", DIFF_TARGET, false, TARGET, "a port with leading zeros",
     target_port},
    {"target-number", DIFF_TARGET, false, TARGET,
     "another spelling of an IPv4 address, or a name that ends in a number",
     target_number},
    {"target-empty-label", DIFF_TARGET, false, TARGET,
     "two dots in a row, one in front", target_empty_label},
    {"target-long", DIFF_TARGET, false, TARGET,
     "a label over 63 bytes or a name over 253", target_long},
    {"target-a-label-dot", DIFF_TARGET, false, CANONICAL,
     "an A-label that srt's URL parser refuses keeps its trailing dot there",
     target_unparsed_dot},
    {"deny-idn", DIFF_MATCH, false, CANONICAL,
     "the A-label of an entry in a deny list; srt's never matches", match_idn},
    {"deny-inner-star", DIFF_MATCH, false, FORMS,
     "*.*.name in a deny list; srt's never matches", match_star},
    {"deny-decoded", DIFF_MATCH, false, DECODED,
     "an IPv6 literal that carries the address of a deny entry", match_decoded},
    {"deny-a-label-dot", DIFF_MATCH, false, CANONICAL,
     "a trailing dot behind an invalid A-label, with a deny entry", match_unparsed_dot},
    {"address-decoded", DIFF_ADDRESS, false, DECODED,
     "denied for the IPv4 address inside, which srt does not see", address_decoded},
    {"address-decoded-class", DIFF_ADDRESS, false, DECODED,
     "denied by both, by us for the IPv4 address inside", address_decoded_class},
    {"address-local-nat64", DIFF_ADDRESS, false, DECODED,
     "in 64:ff9b:1::/48 without a prefix that says where the IPv4 address lies",
     address_local_nat64},

    {"allow-range", DIFF_ENTRY, true, FORMS,
     "srt refuses to load it: whoever writes a range of ports wants those ports",
     more_range},
    {"allow-dot", DIFF_ENTRY, true, CANONICAL,
     "srt refuses to load it; the name with and without the dot is one", more_dot},
    {"allow-star", DIFF_ENTRY, true, FORMS,
     "srt refuses to load it; exactly one label, over a registrable domain", more_star},
    {"allow-case", DIFF_ENTRY, true, CANONICAL,
     "srt refuses to load it; names have no case", more_case},
    {"allow-idn", DIFF_MATCH, true, CANONICAL,
     "srt loads the entry and never matches it; we allow the name that it writes",
     match_idn},
    {"allow-inner-star", DIFF_MATCH, true, FORMS,
     "srt loads *.*.name and never matches it; we allow what it says", match_star},
    {"allow-a-label-dot", DIFF_MATCH, true, CANONICAL,
     "the name without its dot is allowed by both; srt forgets to strip this one",
     match_unparsed_dot},
};

const struct predicate *predicate_at(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

const struct predicate *predicate_of(const struct difference *d)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if ((table[i].kinds & d->kind) != 0 && table[i].open == d->open &&
            table[i].holds(d))
            return &table[i];
    return NULL;
}
