/* The words for each reason: one for machines, one for people. */
#include "proxy/policy/policy.h"

struct words {
    const char *name, *text;
    const char *of_literal; /* instead of text when an address was asked for; or NULL */
};

/* A name turns out to be somewhere; an address is. */
#define WHERE(what) "resolved to " what, "is " what

static const struct words words[REASON_COUNT] = {
    [REASON_NOT_ON_ALLOW_LIST] = {"not-on-allow-list", "host is not on the allow list",
                                  NULL},
    [REASON_ALLOW_LIST] = {"allow-list", "host is on the allow list", NULL},
    [REASON_REPORT_MODE] = {"report-mode",
                            "host is not on the allow list, let through and recorded",
                            NULL},
    [REASON_DENY_LIST] = {"deny-list", "host is on the deny list", NULL},
    [REASON_ADDRESS_LOOPBACK] = {"address-loopback", WHERE("a loopback address")},
    [REASON_ADDRESS_LINK_LOCAL] = {"address-link-local", WHERE("a link-local address")},
    [REASON_ADDRESS_METADATA] = {"address-metadata", WHERE("a cloud metadata address")},
    [REASON_ADDRESS_THIS_HOST] = {"address-this-host",
                                  WHERE("one of this host's addresses")},
    [REASON_ADDRESS_UNSPECIFIED] = {"address-unspecified",
                                    WHERE("an unspecified address")},
    [REASON_ADDRESS_MULTICAST] = {"address-multicast",
                                  WHERE("a multicast or broadcast address")},
    [REASON_ADDRESS_PRIVATE] = {"address-private", WHERE("a private address")},
    [REASON_ADDRESS_LISTED] = {"address-listed", WHERE("a deny-listed address")},
    [REASON_ADDRESS_NOT_LOOPBACK] = {"address-not-loopback",
                                     WHERE("a non-loopback address")},
    [REASON_ADDRESS_OWN] = {"address-own", WHERE("an address of this proxy")},
    [REASON_ADDRESS_UNCHECKED] =
        {"address-unchecked",
         "there are rules for addresses, and a parent proxy would resolve the host",
         NULL},
    [REASON_MALFORMED_HOST] = {"malformed-host", "malformed host", NULL},
    [REASON_MALFORMED_REQUEST] = {"malformed-request", "malformed request", NULL},
    [REASON_AUTH] = {"auth", "proxy credentials are missing or wrong", NULL},
    [REASON_SNI_MISMATCH] = {"sni-mismatch",
                             "the TLS server name is not the host that was asked for",
                             NULL},
    [REASON_POLICY_REVOKED] = {"policy-revoked", "the policy no longer allows it",
                               NULL},
    [REASON_LIMIT] = {"limit", "a limit of the proxy is reached", NULL},
    [REASON_DNS_FAILURE] = {"dns-failure", "host could not be resolved", NULL},
    [REASON_CONNECT_FAILURE] = {"connect-failure", "host could not be connected to",
                                NULL},
    [REASON_PARENT_REFUSED] = {"parent-refused", "the parent proxy refused", NULL},
    [REASON_PARENT_FAILURE] = {"parent-failure", "the parent proxy cannot be used",
                               NULL},
    [REASON_TIMEOUT] = {"timeout", "host did not answer in time", NULL},
    [REASON_BAD_RESPONSE] = {"bad-response", "the server's answer cannot be used",
                             NULL},
    [REASON_NOT_SUPPORTED] = {"not-supported", "this form of request is not proxied",
                              NULL},
    [REASON_CLIENT_LEFT] = {"client-left", "the client closed before the decision",
                            NULL},
};

static const struct words *words_of(enum reason r)
{
    return &words[(unsigned)r < REASON_COUNT ? r : REASON_NOT_ON_ALLOW_LIST];
}

const char *reason_name(enum reason r)
{
    return words_of(r)->name;
}

const char *reason_text(enum reason r)
{
    return words_of(r)->text;
}

const char *reason_text_of(enum reason r, const struct target *t)
{
    const struct words *w = words_of(r);
    bool literal = t != NULL && t->kind == HOST_ADDR && w->of_literal != NULL;

    return literal ? w->of_literal : w->text;
}
