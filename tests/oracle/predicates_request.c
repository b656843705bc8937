/* Differences of what was asked for: targets, matches, resolved addresses. */
#include "tests/oracle/predicates.h"

#include "tests/oracle/carrier.h"
#include "tests/oracle/spelling.h"

static bool has_byte(struct str s, char c)
{
    return s.n > 0 && memchr(s.p, c, s.n) != NULL;
}

static struct spelling entry_spelling(const struct difference *d)
{
    return spelling_of(d->entry->text);
}

/* The host of what was asked, without the port of a CONNECT. */
static struct spelling asked_spelling(const struct difference *d)
{
    return spelling_of(d->ask->raw);
}

/* Requests that Weir does not take for a target. */

static bool is_refused_target(const struct difference *d)
{
    return d->kind == DIFF_TARGET && d->target == NULL;
}

bool target_brackets(const struct difference *d)
{
    struct spelling s = asked_spelling(d);

    return is_refused_target(d) && d->ask->raw.p[0] == '[' &&
           (d->ask->form == 'R' || !has_byte(s.host, ':'));
}

bool target_port(const struct difference *d)
{
    return is_refused_target(d) && d->ask->form == 'C' &&
           asked_spelling(d).port.p[0] == '0';
}

bool target_number(const struct difference *d)
{
    return is_refused_target(d) && asked_spelling(d).number_last &&
           (!asked_spelling(d).address || asked_spelling(d).dot_last);
}

bool target_empty_label(const struct difference *d)
{
    return is_refused_target(d) && asked_spelling(d).empty_label;
}

bool target_long(const struct difference *d)
{
    return is_refused_target(d) &&
           (asked_spelling(d).long_label || asked_spelling(d).long_name);
}

/* Requests that both take. */

static bool is_unparsed_dot(const struct difference *d)
{
    return d->ask->unparsed && asked_spelling(d).dot_last && asked_spelling(d).punycode;
}

bool target_unparsed_dot(const struct difference *d)
{
    return d->kind == DIFF_TARGET && d->target != NULL && is_unparsed_dot(d);
}

/* Weir's entry matches and srt's does not: in a deny list that only denies more. Never
 * the other way round. */
static bool is_more_match(const struct difference *d)
{
    return d->kind == DIFF_MATCH && d->open == (d->entry->kind == 'a') && d->matched;
}

bool match_unparsed_dot(const struct difference *d)
{
    return is_more_match(d) && is_unparsed_dot(d);
}

bool match_idn(const struct difference *d)
{
    return is_more_match(d) && d->meant;
}

/* What stands behind the last star, with its dot; the name ends so, and has a label for
 * each star. */
static bool is_below_stars(const struct spelling *entry, struct str name)
{
    struct str tail = entry->host;
    unsigned labels = spelling_of(name).labels;

    while (has_byte(tail, '*'))
        str_cut(&tail, '*');
    return name.n > tail.n && labels > entry->labels &&
           str_equal_nocase(str_skip(name, name.n - tail.n), tail);
}

/* "*.*.name" */
bool match_star(const struct difference *d)
{
    struct spelling entry = entry_spelling(d);

    return is_more_match(d) && entry.wildcard && entry.stars == 1 &&
           (entry.foreign || is_below_stars(&entry, d->target->host));
}

/* An IPv6 literal that carries the IPv4 address of a deny entry. */
bool match_decoded(const struct difference *d)
{
    return is_more_match(d) && d->entry->kind == 'd' && d->target->ip.family == 6 &&
           entry_spelling(d).address;
}

/* Resolved addresses. */

static bool is_decoded(const struct difference *d)
{
    return d->kind == DIFF_ADDRESS && (d->carries_denied || d->carries_exempt) &&
           !d->verdict.allow;
}

bool address_decoded(const struct difference *d)
{
    return is_decoded(d) && d->srt == 'p';
}

bool address_decoded_class(const struct difference *d)
{
    return is_decoded(d) && d->srt != 'p';
}

bool address_local_nat64(const struct difference *d)
{
    return d->kind == DIFF_ADDRESS && !d->verdict.allow &&
           is_local_nat64(&d->address->ip, d->group);
}
