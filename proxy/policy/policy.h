/*
 * What may leave, and why.
 *
 * A policy is compiled once from one or more `network` objects and never changes;
 * sessions share it by reference. The functions below are pure: no clock, no lookups,
 * no log. Each answers with a verdict, and the zero verdict denies, so whatever was
 * forgotten is refused.
 *
 * A connection is asked about more than once (see proxy/request.c): by target before
 * anything is resolved, by address for each address that the name resolved to, by
 * server name when a TLS hello shows one. Order of decisions: README, "How a decision
 * is made".
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "proxy/base/err.h"
#include "proxy/base/json.h"
#include "proxy/base/target.h"

/* A closed set; reason_name() gives the word of the audit, README explains each. */
enum reason {
    REASON_NOT_ON_ALLOW_LIST = 0,
    REASON_ALLOW_LIST,
    REASON_REPORT_MODE, /* would be not-on-allow-list; let through and recorded */
    REASON_DENY_LIST,
    REASON_ADDRESS_LOOPBACK,
    REASON_ADDRESS_LINK_LOCAL,
    REASON_ADDRESS_METADATA,
    REASON_ADDRESS_THIS_HOST,
    REASON_ADDRESS_UNSPECIFIED,
    REASON_ADDRESS_MULTICAST, /* and limited broadcast */
    REASON_ADDRESS_PRIVATE,   /* with privateAddresses: deny, see addr_is_private(); and
                               * 64:ff9b:1::/48 while no nat64Prefixes entry says where
                               * the IPv4 address lies in it */
    REASON_ADDRESS_LISTED,
    REASON_ADDRESS_NOT_LOOPBACK, /* a localhost name that resolved elsewhere */
    REASON_ADDRESS_OWN,          /* the core's own listeners, admin, control */
    REASON_ADDRESS_UNCHECKED, /* there are address rules, and a parent proxy resolves */
    REASON_MALFORMED_HOST,
    REASON_MALFORMED_REQUEST, /* the head cannot be read, or has what may not be there
                               */
    REASON_AUTH,
    REASON_SNI_MISMATCH,
    REASON_POLICY_REVOKED,
    REASON_LIMIT,
    REASON_DNS_FAILURE,
    REASON_CONNECT_FAILURE,
    REASON_PARENT_REFUSED, /* a parent proxy has answered, and not with a tunnel */
    REASON_PARENT_FAILURE, /* it cannot be reached, or makes no sense */
    REASON_TIMEOUT,
    REASON_BAD_RESPONSE,  /* what the server says of a plain request is no HTTP, or not
                           * all of it */
    REASON_NOT_SUPPORTED, /* a method or form that this version does not proxy */
    REASON_CLIENT_LEFT,   /* the client closed before the decision */
    REASON_COUNT
};
const char *reason_name(enum reason r);

/* Which entry decided. It names the entry without needing the policy. */
enum rule_list {
    RULE_NONE = 0,
    RULE_ALLOWED_DOMAINS,
    RULE_DENIED_DOMAINS,
    RULE_DENIED_ADDRESSES,
    RULE_NAT64_PREFIXES,    /* what the prefix hid is what the reason says */
    RULE_PRIVATE_ADDRESSES, /* this and those below are keys without entries */
    RULE_MODE,
    RULE_SNI,
};
struct rule {
    enum rule_list list;
    unsigned level; /* which of the layers: see struct policy_layer */
    unsigned index;
};

struct verdict {
    bool allow;
    enum reason reason;
    struct rule rule;
    unsigned long generation; /* of the policy that was asked */
};

/* This host, as it was when the snapshot was taken. Immutable, borrowed by the check
 * functions for the call. Made by proxy/hostaddrs.c, or by a test. */
struct hostaddrs {
    const struct ip *interfaces; /* every address of every interface */
    size_t interface_count;
    const struct addr *own; /* where the core listens; an unspecified IP means all of
                             * this host's addresses and loopback */
    size_t own_count;
    const struct ip_range *local; /* what the kernel takes for itself beside them */
    size_t local_count;
};

struct policy; /* immutable, reference-counted (atomically: workers share it) */

/* One `network` object. Several are merged, first the outermost: deny lists, address
 * rules and nat64Prefixes add up, the last allow list that is present (an empty one
 * too) replaces those before it, and of the other keys the stricter value wins. */
struct policy_layer {
    const char
        *label; /* in front of "network.…" in rules and errors: "", "clients[2]." */
    const struct json_doc *doc; /* for line numbers */
    const cJSON *network;       /* NULL: nothing is allowed by this layer */
    bool adds; /* its allow list adds to the one that counts before it, instead of
                * replacing it: what a command line allows on top of the settings */
};

enum { POLICY_LAYERS_MAX = 8 };

/* What was doubtful but loads: called once for each, with the place in front. */
typedef void policy_warn_fn(void *owner, const char *text);

/* On false nothing is made and *e names line and key: "line 4:
 * network.allowedDomains[2]: \"*.com\": ...". Each success has a higher generation than
 * the one before. The layers are not kept. `warn` may be NULL. */
bool policy_load(const struct policy_layer *layers, size_t count, policy_warn_fn *warn,
                 void *warn_owner, struct policy **out, struct err *e);
struct policy *policy_ref(struct policy *p);
void policy_unref(struct policy **p);
unsigned long policy_generation(const struct policy *p);

/* For DNS, before a port is known. */
enum name_answer { NAME_DENIED = 0, NAME_ALLOWED_EXACT, NAME_ALLOWED_WILDCARD };
struct name_verdict {
    enum name_answer answer; /* allowed on some port? */
    enum reason reason;
    struct rule rule;
};
struct name_verdict policy_check_name(const struct policy *p, struct str name);

/* By name (or literal) and port. First what is the core's own, then every deny list,
 * then the allow list. An address literal is judged by its class here too, also in
 * report mode, unless the allow list names this very address. `host` is never NULL. */
struct verdict policy_check_target(const struct policy *p, const struct target *t,
                                   const struct hostaddrs *host);

/* An address that t (a name) resolved to, as it was answered: what an IPv6 form hides
 * is judged too. Only meaningful after policy_check_target() allowed t. In order: the
 * core's own; deny entries that are addresses; an allow entry that is this address (the
 * IPv4-mapped spelling counts, no other form does) opens it, whatever its class; a
 * localhost name leads to loopback only, and opens it when the allow list has it;
 * classes; deniedResolvedAddresses; this host's interfaces; privateAddresses.
 *
 * An allow entry that names an address lifts the address rules of its own layer; those
 * of other layers hold. The rule of an allow is that entry, or RULE_NONE. */
struct verdict policy_check_addr(const struct policy *p, const struct target *t,
                                 const struct ip *ip, const struct hostaddrs *host);

/* t (a name) will be resolved by a parent proxy, and no address of it will ever be
 * checked here. Denied (address-unchecked) when somebody wrote rules for addresses:
 * deniedResolvedAddresses, privateAddresses "deny", nat64Prefixes, or an address in
 * deniedDomains; the rule is the first of them. Only meaningful after
 * policy_check_target() allowed t. */
struct verdict policy_check_unresolved(const struct policy *p, const struct target *t);

/* What a client's first bytes showed. */
enum hello_kind {
    HELLO_KIND_NONE = 0, /* not TLS, or nothing sent yet */
    HELLO_KIND_BAD,      /* TLS, but malformed or too long */
    HELLO_KIND_NO_NAME,
    HELLO_KIND_NAME,
    HELLO_KIND_ENCRYPTED, /* ECH: `name` is the outer one */
};
/* `name` as it stands in the hello; compared as hosts are. By network.sni:
 *
 *            match (default)       require               off
 * NONE       passes                refused               passes
 * NO_NAME    passes                refused               passes
 * NAME       must be the target    must be the target    passes
 * ENCRYPTED  must be the target    refused: the name     passes
 *            (the outer name)      that counts is hidden
 * BAD        refused               refused               passes
 *
 * When the target is an address the name is recorded, not compared: NO_NAME, NAME and
 * ENCRYPTED pass, the rest is as above. */
struct verdict policy_check_hello(const struct policy *p, const struct target *t,
                                  enum hello_kind kind, struct str name);

/* "network.deniedDomains[3]" with its label; "" for RULE_NONE. */
const char *policy_rule_text(const struct policy *p, const struct rule *r, char *buf,
                             size_t size);
/* The label of the layer that somebody would change to have it allowed: whose deny list
 * has the entry, else whose allow list counts. Lives as long as p. */
const char *policy_remedy_label(const struct policy *p, const struct verdict *v);
/* The entry as the user wrote it; empty when there is none. Lives as long as p. */
struct str policy_rule_entry(const struct policy *p, const struct rule *r);
/* The user's reason (deniedDomainReasons) for a deny entry; empty when there is none.
 */
struct str policy_deny_text(const struct policy *p, const struct rule *r);
/* The short reason for people, as srt words it: "host is on the deny list", "resolved
 * to a loopback address". */
const char *reason_text(enum reason r);
/* The same for what was asked for (NULL: nothing that could be understood): of an
 * address nothing was resolved, it "is a loopback address". */
const char *reason_text_of(enum reason r, const struct target *t);

#endif
