/* Which keys an object may have, and what somebody probably meant. */
#include "proxy/base/json.h"

/* A longer word is no slip of the fingers; it also bounds the work. */
enum { WORD_MAX = 64 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;

    return least < c ? least : c;
}

/* Insertions, deletions, substitutions and swapped neighbours that turn one into the
 * other (optimal string alignment); letters of the other case are equal. */
static unsigned edits(struct str a, struct str b)
{
    unsigned rows[3][WORD_MAX + 1];

    for (unsigned j = 0; j <= b.n; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a.n; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3];

        row[0] = i;
        for (unsigned j = 1; j <= b.n; j++) {
            bool same = str_equal_nocase((struct str){a.p + i - 1, 1},
                                         (struct str){b.p + j - 1, 1});

            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
                row[j] = min3(row[j], row[j], rows[(i + 1) % 3][j - 2] + 1);
        }
    }
    return rows[a.n % 3][b.n];
}

const char *json_near(const char *word, const char *const known[])
{
    struct str w = str_from(word);
    const char *best = NULL;
    unsigned best_edits = WORD_MAX;

    if (w.n == 0 || w.n > WORD_MAX)
        return NULL;
    for (size_t i = 0; known[i] != NULL; i++) {
        struct str k = str_from(known[i]);
        size_t longer = k.n > w.n ? k.n : w.n;
        unsigned n = k.n <= WORD_MAX ? edits(w, k) : WORD_MAX;

        if (n < best_edits && n <= (longer + 2) / 3) {
            best = known[i];
            best_edits = n;
        }
    }
    return best;
}

static bool is_known(const char *key, const char *const known[])
{
    for (size_t i = 0; known[i] != NULL; i++)
        if (strcmp(known[i], key) == 0)
            return true;
    return false;
}

static bool unknown_key(const char *key, const char *const known[], struct err *e)
{
    char quoted[256];
    size_t n = json_quote(str_from(key), quoted, sizeof quoted);
    const char *near = json_near(key, known);

    if (n == 0)
        return err_set(e, "unknown key of %zu bytes", strlen(key));
    if (near == NULL)
        return err_set(e, "unknown key " STR_FMT, (int)n, quoted);
    return err_set(e, "unknown key " STR_FMT " (did you mean \"%s\"?)", (int)n, quoted,
                   near);
}

bool json_only_keys(const cJSON *object, const char *const known[], const cJSON **bad,
                    struct err *e)
{
    const cJSON *node;

    cJSON_ArrayForEach(node, object) {
        if (is_known(node->string, known))
            continue;
        *bad = node;
        return unknown_key(node->string, known, e);
    }
    return true;
}
