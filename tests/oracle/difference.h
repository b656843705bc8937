/* One place where srt and Weir do not say the same, and the table of the differences
 * that are meant. */
#ifndef ORACLE_DIFFERENCE_H
#define ORACLE_DIFFERENCE_H

#include "proxy/policy/policy.h"
#include "tests/oracle/vectors.h"

enum difference_kind {
    DIFF_ENTRY = 1, /* one loads the entry, the other does not */
    DIFF_TARGET =
        2,          /* one takes the request for a target, or both for different ones */
    DIFF_MATCH = 4, /* an entry that both load matches for one alone */
    DIFF_ADDRESS = 8, /* a resolved address: allowed by one, or for another reason */
};

struct difference {
    enum difference_kind kind;
    bool open; /* Weir lets through what srt refuses */
    const struct group *group;
    const struct entry *entry;   /* ENTRY, MATCH */
    bool matched;                /* MATCH: Weir's entry does */
    bool meant;                  /* MATCH: srt's would, had srt made A-labels of it */
    const struct ask *ask;       /* TARGET, MATCH */
    const struct target *target; /* TARGET, MATCH, ADDRESS; NULL when Weir takes none */
    const struct resolved *address; /* ADDRESS */
    char srt;                       /* ADDRESS: srt's letter */
    struct verdict verdict;         /* ADDRESS: ours */
    /* ADDRESS: it carries an IPv4 address in a form that srt does not know, one that is
     * denied by itself, or one that is only open because an entry names it. */
    bool carries_denied, carries_exempt;
};

/* A difference that is meant. The function looks at what was asked, never at a text
 * that it knows by heart. */
struct predicate {
    const char *id;
    unsigned kinds;   /* of enum difference_kind, or'ed */
    bool open;        /* a row of the table "Weir allows what srt denies" */
    const char *line; /* the line of the design or of srt.md that wants it */
    const char *why;
    bool (*holds)(const struct difference *d);
};

/* The first that holds; NULL when nobody meant this one. */
const struct predicate *predicate_of(const struct difference *d);
const struct predicate *predicate_at(size_t i); /* NULL behind the last */

/* Counts, and remembers what nobody meant. */
struct tally {
    unsigned long pairs;     /* compared in all */
    unsigned long decisions; /* whole decisions among them */
    unsigned long hits[64];  /* by index of the predicate */
    unsigned long unexplained;
};
void tally_add(struct tally *t, const struct difference *d);
/* Prints the two tables; false when something is unexplained, or a predicate was not
 * needed. */
bool tally_report(const struct tally *t);

#endif
