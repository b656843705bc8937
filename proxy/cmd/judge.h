/* What would be decided about a target, by the policy of a file, on this host, now. */
#ifndef CMD_JUDGE_H
#define CMD_JUDGE_H

#include "dns/resolver.h"
#include "proxy/gateway_config.h"

/* Where the policy comes from: at most one of the three. None: the default places. */
struct judge_source {
    const char *settings; /* a settings file */
    const char *gateway;  /* a gateway file */
    const char *list;     /* a plain list of domains */
    const char *as;       /* a client of the gateway file; NULL: none */
};

struct judge;

/* Warnings go to `warn`, each with the file in front. On false *e says which file and
 * what is wrong in it, or why this host's addresses cannot be read. */
bool judge_new(const struct judge_source *source, policy_warn_fn *warn, void *owner,
               struct judge **out, struct err *e);
void judge_free(struct judge **j);

/* The file in use; NULL for the built-in defaults. */
const char *judge_file(const struct judge *j);
/* Its `network`; NULL when there is none. */
const cJSON *judge_network(const struct judge *j);
/* The text of the settings that a plain list became; empty without one. */
struct str judge_converted(const struct judge *j);
/* NULL when it is a gateway file. */
const struct settings *judge_settings(const struct judge *j);
/* NULL when it is no gateway file. */
const struct config *judge_config(const struct judge *j);
/* The client that is judged for; NULL: none. */
const struct config_client *judge_client(const struct judge *j);
/* The key path of the allow list that counts: "network.allowedDomains". */
const char *judge_allow_list(const struct judge *j);
const struct policy *judge_policy(const struct judge *j);

struct judged_addr {
    struct ip ip;
    struct verdict verdict;
};

struct judged {
    struct verdict verdict;   /* the last word, addresses included */
    const struct parent *via; /* the proxy that it goes through; NULL: directly */
    bool resolved;            /* it was looked up; what follows is filled */
    enum lookup_status status;
    struct judged_addr addrs[LOOKUP_MAX];
    size_t addr_count;
    size_t told; /* the address of which the verdict is, when none may be used */
};

/* By name and port, or address; `resolve`: also each address of a name that is allowed,
 * unless a parent proxy resolves it. */
bool judge_target(struct judge *j, const struct target *t, enum dial_use use,
                  bool resolve, struct judged *out, struct err *e);

/* The deny that a name gets although a wildcard allows all below it: true, and the rule
 * of that wildcard. */
bool judge_is_apex(struct judge *j, const struct target *t, struct rule *wildcard);

#endif
