/* Counts differences by the predicate that means them, and prints the two tables. */
#include "tests/oracle/difference.h"

#include "proxy/base/json.h"

enum { SHOWN_MAX = 20, SHOWN_BYTES_MAX = 1024 };

static void show(const char *name, struct str s)
{
    char text[SHOWN_BYTES_MAX];
    size_t n = json_quote(str_head(s, SHOWN_BYTES_MAX / 8), text, sizeof text);

    fprintf(stderr, "  %s %.*s\n", name, (int)n, text);
}

static const char *kind_name(enum difference_kind kind)
{
    switch (kind) {
    case DIFF_ENTRY:
        return "entry";
    case DIFF_TARGET:
        return "target";
    case DIFF_MATCH:
        return "match";
    case DIFF_ADDRESS:
        return "address";
    }
    return "?";
}

static void show_lists(const struct group *g)
{
    for (size_t i = 0; i < g->entry_count; i++) {
        const struct entry *e = &g->entries[i];
        char name[8] = {e->kind, e->srt ? '1' : '0', e->ours ? '1' : '0', ':', '\0'};

        show(name, e->text);
    }
}

static void show_difference(const struct difference *d)
{
    fprintf(stderr, "not meant: %s, group of line %u%s\n", kind_name(d->kind),
            d->group->line, d->open ? ", WEIR ALLOWS WHAT SRT DENIES" : "");
    if (d->entry != NULL)
        fprintf(stderr, "  list %c, srt %s, weir %s\n", d->entry->kind,
                d->entry->srt ? "loads" : "refuses",
                d->entry->ours ? "loads" : "refuses");
    if (d->entry != NULL)
        show("entry", d->entry->text);
    if (d->ask != NULL) {
        fprintf(stderr, "  form %c, srt says %c, bits %x, port %u\n", d->ask->form,
                d->ask->letter, d->ask->bits, d->ask->port);
        show("asked", d->ask->raw);
        show("srt's host", d->ask->canonical);
    }
    if (d->target != NULL) {
        show("our host", d->target->host);
        fprintf(stderr, "  our port %u\n", d->target->port);
    }
    if (d->address != NULL) {
        fprintf(stderr, "  address %s: srt says %c, weir %s: %s\n", d->address->text.p,
                d->srt, d->verdict.allow ? "allows" : "denies",
                reason_name(d->verdict.reason));
        show_lists(d->group);
    }
}

void tally_add(struct tally *t, const struct difference *d)
{
    const struct predicate *p = predicate_of(d);

    if (p != NULL) {
        t->hits[p - predicate_at(0)]++;
        return;
    }
    if (t->unexplained++ < SHOWN_MAX)
        show_difference(d);
}

static void report_table(const struct tally *t, bool open)
{
    const struct predicate *p;

    for (size_t i = 0; (p = predicate_at(i)) != NULL; i++)
        if (p->open == open)
            printf("%8lu  %-22s %s\n%32s %s\n", t->hits[i], p->id, p->line, "", p->why);
}

bool tally_report(const struct tally *t)
{
    const struct predicate *p;
    bool needed = true;

    printf("%lu pairs compared, %lu whole decisions\n\n", t->pairs, t->decisions);
    printf("Weir is stricter, or says it in another way:\n");
    report_table(t, false);
    printf("\nWeir allows what srt denies:\n");
    report_table(t, true);
    for (size_t i = 0; (p = predicate_at(i)) != NULL; i++) {
        if (t->hits[i] == 0)
            printf("\npredicate %s was not needed: take it out\n", p->id);
        needed = needed && t->hits[i] > 0;
    }
    printf("\n%lu differences that nobody meant\n", t->unexplained);
    return needed && t->unexplained == 0;
}
