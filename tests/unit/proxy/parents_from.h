/* Tables of parents from the text of `network` objects, for tests. */
#ifndef TEST_PARENTS_FROM_H
#define TEST_PARENTS_FROM_H

#include <stdio.h>

#include "proxy/parents.h"

struct told {
    unsigned count;
    char text[1024]; /* a line each */
};

static inline void on_told(void *owner, const char *text)
{
    struct told *told = owner;
    size_t len = strlen(told->text);

    told->count++;
    snprintf(told->text + len, sizeof told->text - len, "%s\n", text);
}

/* Up to two layers, the gateway's and a client's; `environment` may be NULL. */
static inline bool parents_from(const char *const texts[], size_t count,
                                char *const *environment, struct told *told,
                                struct parents **out, struct err *e)
{
    static const char *const labels[] = {"", "clients[0]."};
    struct json_doc *docs[2] = {NULL};
    struct policy_layer layers[2];
    struct parents_options o = {.layers = layers,
                                .count = count,
                                .environment = environment,
                                .warn = on_told,
                                .owner = told};
    bool good;

    *told = (struct told){0};
    for (size_t i = 0; i < count; i++) {
        if (!json_parse(str_from(texts[i]), JSON_SETTINGS, &docs[i], e))
            fail_msg("%s: %s", texts[i], e->text);
        layers[i] =
            (struct policy_layer){labels[i], docs[i], json_root(docs[i]), false};
    }
    good = parents_load(&o, out, e);
    for (size_t i = 0; i < count; i++)
        json_free(&docs[i]);
    return good;
}

/* One layer that must load. */
static inline struct parents *parents_of(const char *text)
{
    struct parents *p = NULL;
    struct told told;
    struct err e = {""};

    if (!parents_from(&text, 1, NULL, &told, &p, &e))
        fail_msg("%s: %s", text, e.text);
    return p;
}

#endif
