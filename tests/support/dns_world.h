/* A loop, a scripted name server and a resolver that asks it: what the tests of lookups
 * stand on. Files of its own for hosts and resolv.conf, absent until a test writes
 * them. Failures are cmocka's. */
#ifndef SUPPORT_DNS_WORLD_H
#define SUPPORT_DNS_WORLD_H

#include "dns/resolver.h"
#include "tests/support/dns_script.h"

/* Seconds; a guard and not a measure: no test gets near it. */
#define WORLD_PATIENCE 20.

struct world {
    struct ev_loop *loop;
    struct dns_script *server;
    struct resolver *resolver;
    char folder[32], hosts[64], resolv_conf[64];
};

/* What a lookup came to. */
struct lookup_seen {
    struct world *world;
    const struct lookup_asker *asker; /* whose lookup it is; NULL: nobody is counted */
    struct lookup *lookup;            /* NULL once it is done */
    unsigned calls;
    enum lookup_status status;
    char text[LOOKUP_MAX * IP_TEXT_MAX]; /* the addresses, with blanks between them */
    size_t count;
    char why[128];
    double seconds;
    struct lookup_seen *cancels; /* cancelled from within the callback */
    struct lookup_seen *starts;  /* started from within it, for "a.test" */
};

int world_set_up(void **state);
int world_tear_down(void **state);
#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_set_up, world_tear_down)

/* A new resolver, with these options, that asks the scripted server. */
void world_servers(struct world *w, const struct resolver_options *extra);
/* A new resolver that asks whom resolv.conf says. */
void world_resolv_conf(struct world *w, const struct resolver_options *extra);

void world_look(struct world *w, struct lookup_seen *s, const char *name);
/* Turns the loop until `s` is done (else the test fails), or for `seconds` when it is
 * NULL. */
void world_turn(struct world *w, const struct lookup_seen *s, double seconds);
struct lookup_seen world_ask(struct world *w, const char *name);
void world_expect(struct world *w, const char *name, enum lookup_status status,
                  const char *ips);

/* Moved into its place, so that the change is seen however coarse the clock is. */
void world_write(const char *path, const char *text);

#define SAY(w, ...)                                          \
    do {                                                     \
        static const struct dns_reply reply = {__VA_ARGS__}; \
        dns_script_say((w)->server, &reply);                 \
    } while (0)

#endif
