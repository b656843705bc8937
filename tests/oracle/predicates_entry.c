/* Differences of entries: what one of the two does not load. */
#include "tests/oracle/predicates.h"

#include <idn2.h>
#include <libpsl.h>
#include <stdlib.h>

#include "tests/oracle/spelling.h"

enum { ENTRY_MAX = 1024 };

static bool has_byte(struct str s, char c)
{
    return s.n > 0 && memchr(s.p, c, s.n) != NULL;
}

static bool is_refused_entry(const struct difference *d)
{
    return d->kind == DIFF_ENTRY && d->entry->srt && d->entry->kind != 'r';
}

static bool is_more_entry(const struct difference *d)
{
    return d->kind == DIFF_ENTRY && d->entry->ours && d->entry->kind != 'r';
}

static struct spelling entry_spelling(const struct difference *d)
{
    return spelling_of(d->entry->text);
}

/* Entries that Weir refuses. */

bool entry_odd_bytes(const struct difference *d)
{
    return is_refused_entry(d) && entry_spelling(d).odd_bytes &&
           !entry_spelling(d).bracketed;
}

bool entry_zone(const struct difference *d)
{
    return is_refused_entry(d) && entry_spelling(d).bracketed && entry_spelling(d).zone;
}

bool entry_brackets(const struct difference *d)
{
    struct spelling s = entry_spelling(d);

    return is_refused_entry(d) && s.bracketed && !has_byte(s.host, ':');
}

bool entry_empty_label(const struct difference *d)
{
    return is_refused_entry(d) && entry_spelling(d).empty_label;
}

bool entry_long(const struct difference *d)
{
    return is_refused_entry(d) &&
           (entry_spelling(d).long_label || entry_spelling(d).long_name);
}

bool entry_number(const struct difference *d)
{
    struct spelling s = entry_spelling(d);

    return is_refused_entry(d) && s.number_last && !s.address;
}

bool entry_never(const struct difference *d)
{
    return is_refused_entry(d) && entry_spelling(d).wildcard &&
           entry_spelling(d).stars > 0;
}

/* U+3002 and its like, which IDNA maps to a dot. */
bool entry_foreign_dot(const struct difference *d)
{
    struct str rest = d->kind == DIFF_ENTRY ? d->entry->text : STR("");
    bool found = false;

    for (; rest.n >= 3; rest = str_skip(rest, 1))
        found |= str_starts(rest, STR("\xe3\x80\x82"));
    return is_refused_entry(d) && found;
}

/* Whether IDNA has an A-label for each label (RFC 5891, mapped as UTS 46 says), and no
 * mapping to something that is no label. */
bool entry_no_idn(const struct difference *d)
{
    struct spelling s = entry_spelling(d);
    struct str name = str_skip(s.host, s.wildcard ? 2 : 0);
    char *ascii = NULL;
    char z[ENTRY_MAX];
    bool bad;

    if (!is_refused_entry(d) || !s.foreign || name.n >= sizeof z)
        return false;
    memcpy(z, name.p, name.n);
    z[name.n] = '\0';
    bad = idn2_to_ascii_8z(z, &ascii, IDN2_NONTRANSITIONAL) != IDN2_OK;
    free(ascii);
    return bad;
}

bool entry_public_suffix(const struct difference *d)
{
    struct spelling s = entry_spelling(d);
    struct str name = str_skip(s.host, 2);
    char z[HOST_NAME_MAX_LEN + 1];

    if (!is_refused_entry(d) || !s.wildcard || name.n >= sizeof z)
        return false;
    memcpy(z, name.p, name.n);
    z[name.n] = '\0';
    for (size_t i = 0; i < name.n; i++)
        if (z[i] >= 'A' && z[i] <= 'Z')
            z[i] |= 0x20;
    return psl_is_public_suffix2(psl_builtin(), z,
                                 PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE) != 0;
}

bool range_zone(const struct difference *d)
{
    return d->kind == DIFF_ENTRY && d->entry->kind == 'r' && d->entry->srt &&
           has_byte(d->entry->text, '%') && !has_byte(d->entry->text, ':');
}

/* Entries that only Weir takes. In a deny list more entries only deny more. */

bool more_range(const struct difference *d)
{
    return is_more_entry(d) && has_byte(entry_spelling(d).port, '-');
}

bool more_dot(const struct difference *d)
{
    return is_more_entry(d) && entry_spelling(d).dot_last;
}

bool more_star(const struct difference *d)
{
    return is_more_entry(d) && entry_spelling(d).stars == 1;
}

bool more_case(const struct difference *d)
{
    return is_more_entry(d) &&
           str_equal_nocase(entry_spelling(d).host, STR("localhost"));
}

bool more_top_level(const struct difference *d)
{
    return is_more_entry(d) && d->entry->kind == 'd' && entry_spelling(d).wildcard &&
           entry_spelling(d).labels == 1;
}
