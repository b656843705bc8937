#include "proxy/gateway_identify.h"

#include "proxy/ranges.h"

static bool fits(const struct client_settings *c, const struct caller *who)
{
    if (c->cert_name != NULL && !str_equal(str_from(c->cert_name), who->cert))
        return false;
    return c->from == NULL || ranges_have(c->from, c->from_count, &who->from);
}

static uint32_t proof_of(const struct token *t)
{
    uint32_t proof;

    memcpy(&proof, t->digest, sizeof proof);
    return proof != 0 ? proof : 1;
}

/* All are looked at, so that the time does not tell how near a guess came. */
static const struct client_settings *find_token(const struct config *c,
                                                struct str password, uint32_t *proof)
{
    const struct client_settings *found = NULL;
    struct token asked;

    digest_of(password, asked.digest);
    for (size_t i = 0; i < c->settings.client_count; i++) {
        const struct client_settings *client = &c->settings.clients[i];

        for (size_t j = 0; j < client->token_count; j++)
            if (digest_equal(client->tokens[j].digest, asked.digest))
                found = client;
    }
    *proof = proof_of(&asked);
    return found;
}

static const struct client_settings *find_login(const struct config *c,
                                                const struct caller *who,
                                                const struct login *login,
                                                uint32_t *proof)
{
    const struct client_settings *found = find_token(c, login->password, proof);

    if (found == NULL || !fits(found, who))
        return NULL;
    return login->user.n == 0 || str_equal(str_from(found->name), login->user) ? found
                                                                               : NULL;
}

static const struct client_settings *find_cert(const struct config *c,
                                               const struct caller *who)
{
    for (size_t i = 0; who->cert.n > 0 && i < c->settings.client_count; i++) {
        const struct client_settings *client = &c->settings.clients[i];

        if (client->token_count == 0 && client->cert_name != NULL && fits(client, who))
            return client;
    }
    return NULL;
}

static const struct client_settings *find_address(const struct config *c,
                                                  const struct caller *who)
{
    struct ip ip = who->from;
    uint32_t entry;

    ip_unmap(&ip);
    return ip.family != 0 && radix_find(c->by_address, &ip, &entry)
               ? &c->settings.clients[entry]
               : NULL;
}

enum identity gateway_identify(const struct config *c, const struct caller *who,
                               const struct login *login, size_t *client,
                               uint32_t *proof)
{
    const struct client_settings *found;

    *proof = 0;
    if (c->tokens && login != NULL && login->given) {
        found = find_login(c, who, login, proof);
    } else {
        found = find_cert(c, who);
        if (found == NULL)
            found = find_address(c, who);
    }
    if (found == NULL)
        return c->tokens ? IDENTITY_LOGIN : IDENTITY_UNKNOWN;
    *client = (size_t)(found - c->settings.clients);
    return IDENTITY_KNOWN;
}

bool gateway_identity_holds(const struct client_settings *client,
                            const struct caller *who, uint32_t proof)
{
    if (!fits(client, who))
        return false;
    if (client->token_count == 0)
        return proof == 0;
    for (size_t i = 0; i < client->token_count; i++)
        if (proof_of(&client->tokens[i]) == proof)
            return true;
    return false;
}
