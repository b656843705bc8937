/* The server name of a TLS hello against the target: a name that was allowed must not
 * be a door to another one behind the same address. */
#include "proxy/policy/compiled.h"

static bool is_target(struct str name, const struct target *t)
{
    if (name.n > 1 && name.p[name.n - 1] == '.')
        name.n--;
    return str_equal_nocase(name, t->host);
}

/* When the target is an address there is nothing to compare with: what is required is
 * then only that it is TLS. */
static bool passes(enum policy_sni mode, const struct target *t, enum hello_kind kind,
                   struct str name)
{
    bool is_addr = t->kind == HOST_ADDR;

    switch (kind) {
    case HELLO_KIND_NONE:
        return mode != SNI_REQUIRE;
    case HELLO_KIND_NO_NAME:
        return mode != SNI_REQUIRE || is_addr;
    case HELLO_KIND_NAME:
        return is_addr || is_target(name, t);
    case HELLO_KIND_ENCRYPTED:
        /* The name that counts is not shown. */
        return is_addr || (mode != SNI_REQUIRE && is_target(name, t));
    case HELLO_KIND_BAD:
        break;
    }
    return false;
}

struct verdict policy_check_hello(const struct policy *p, const struct target *t,
                                  enum hello_kind kind, struct str name)
{
    struct rule rule = {RULE_SNI, p->sni_level, 0};

    if (p->sni == SNI_OFF || passes(p->sni, t, kind, name))
        return policy_answer(p, true, REASON_ALLOW_LIST, (struct rule){0});
    return policy_answer(p, false, REASON_SNI_MISMATCH, rule);
}
