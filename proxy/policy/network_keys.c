#include "proxy/policy/network_keys.h"

enum type {
    TYPE_ANY = 0,
    TYPE_BOOL,
    TYPE_ARRAY,
    TYPE_OBJECT,
    TYPE_NUMBER,
    TYPE_STRING
};

/* What becomes of a key. */
enum fate {
    FATE_REFUSED = 0, /* nothing that it can hold loads */
    FATE_READ,        /* load.c reads it, or whoever dials: proxy/parents_load.c */
    FATE_IDLE_ONLY,   /* false, [] or the word in `idle` ask for nothing and load */
    FATE_NOTED,       /* loads with a note: it grants nothing here */
};

struct key {
    const char *name;
    enum fate fate;
    enum type type;
    const char *idle; /* of a string */
    const char *why;
};

static const struct key keys[] = {
    {"mode", FATE_READ, TYPE_ANY, NULL, NULL},
    {"allowedDomains", FATE_READ, TYPE_ANY, NULL, NULL},
    {"deniedDomains", FATE_READ, TYPE_ANY, NULL, NULL},
    {"deniedDomainReasons", FATE_READ, TYPE_ANY, NULL, NULL},
    {"deniedResolvedAddresses", FATE_READ, TYPE_ANY, NULL, NULL},
    {"privateAddresses", FATE_READ, TYPE_ANY, NULL, NULL},
    {"nat64Prefixes", FATE_READ, TYPE_ANY, NULL, NULL},
    {"sni", FATE_READ, TYPE_ANY, NULL, NULL},
    /* Without a per-command list and a question to anybody, all is strict. */
    {"strictAllowlist", FATE_NOTED, TYPE_BOOL, NULL, NULL},
    {"parentProxy", FATE_READ, TYPE_ANY, NULL, NULL},
    {"mitmProxy", FATE_READ, TYPE_ANY, NULL, NULL}, /* by the core, which dials */
    {"httpProxyPort", FATE_REFUSED, TYPE_NUMBER, NULL,
     "another proxy cannot take this one's place; its rules would not hold"},
    {"socksProxyPort", FATE_REFUSED, TYPE_NUMBER, NULL,
     "another proxy cannot take this one's place; its rules would not hold"},
    {"tlsTerminate", FATE_REFUSED, TYPE_OBJECT, NULL,
     "TLS is passed through, not looked into"},
    {"filterRequest", FATE_REFUSED, TYPE_ANY, NULL,
     "a function of srt's library cannot stand in a file, and requests are not "
     "filtered"},
    {"allowPlaintextHeaderSet", FATE_IDLE_ONLY, TYPE_BOOL, NULL,
     "no headers are set in requests"},
    {"stripResponseHeaders", FATE_IDLE_ONLY, TYPE_ARRAY, NULL,
     "responses are passed on as they are"},
    {"refuseOpaqueTunnels", FATE_IDLE_ONLY, TYPE_BOOL, NULL,
     "every tunnel is opaque while TLS is not terminated; nothing would pass"},
    {"requireHostMatch", FATE_IDLE_ONLY, TYPE_BOOL, NULL,
     "the Host of a request inside a tunnel is not seen (\"sni\": \"require\" compares "
     "the TLS server name)"},
    {"ambiguousRequestTarget", FATE_IDLE_ONLY, TYPE_STRING, "refuse",
     "requests are not forwarded one by one"},
    {"allowAllUnixSockets", FATE_IDLE_ONLY, TYPE_BOOL, NULL,
     "Unix sockets stay closed inside the sandbox"},
    {"allowUnixSockets", FATE_NOTED, TYPE_ARRAY, NULL,
     "is for macOS; Unix sockets stay closed inside the sandbox"},
    {"allowLocalBinding", FATE_NOTED, TYPE_BOOL, NULL,
     "is for macOS and Windows; the sandbox has its own loopback, where every port can "
     "be bound and the host's are not reachable"},
    {"allowMachLookup", FATE_NOTED, TYPE_ARRAY, NULL, "is for macOS"},
};

enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

static bool check_type(const cJSON *value, enum type type, struct err *e)
{
    switch (type) {
    case TYPE_ANY:
        return true;
    case TYPE_BOOL:
        return cJSON_IsBool(value) || err_set(e, "expected true or false");
    case TYPE_ARRAY:
        return cJSON_IsArray(value) || err_set(e, "expected a list in [ ]");
    case TYPE_OBJECT:
        return cJSON_IsObject(value) || err_set(e, "expected an object in { }");
    case TYPE_NUMBER:
        return cJSON_IsNumber(value) || err_set(e, "expected a number");
    case TYPE_STRING:
        return cJSON_IsString(value) || err_set(e, "expected a string");
    }
    return err_set(e, "has no type");
}

/* Asks for nothing beyond what is so anyway? */
static bool is_idle(const struct key *key, const cJSON *value)
{
    if (key->idle != NULL)
        return strcmp(value->valuestring, key->idle) == 0;
    return cJSON_IsFalse(value) || (cJSON_IsArray(value) && value->child == NULL);
}

static bool check_key(const struct loading *l, const struct key *key,
                      const cJSON *value, struct err *e)
{
    if (!check_type(value, key->type, e))
        return loading_refuse(l, value, key->name, -1, e);
    if (key->fate == FATE_REFUSED ||
        (key->fate == FATE_IDLE_ONLY && !is_idle(key, value))) {
        err_set(e, "not supported yet: %s", key->why);
        return loading_refuse(l, value, key->name, -1, e);
    }
    if (key->fate == FATE_NOTED && key->why != NULL)
        loading_warn(l, l->level, value, key->name, -1, "%s", key->why);
    return true;
}

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

bool network_keys_check(const struct loading *l, struct err *e)
{
    const cJSON *network = l->layers[l->level].network, *value, *bad = NULL;
    const char *known[KEY_COUNT + 1] = {NULL};

    if (!cJSON_IsObject(network)) {
        err_set(e, "expected an object in { }");
        return loading_refuse(l, network, "", -1, e);
    }
    for (size_t i = 0; i < KEY_COUNT; i++)
        known[i] = keys[i].name;
    if (!json_only_keys(network, known, &bad, e))
        return loading_refuse(l, bad, "", -1, e);
    cJSON_ArrayForEach(value, network)
        if (!check_key(l, find_key(value->string), value, e))
            return false;
    return true;
}
