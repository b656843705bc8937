/* A gateway file, from its bytes to everybody's policy: loads, or is refused with a
 * sentence that names the file; and nobody gets what no list of his allows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/gateway_config.h"
#include "tests/fuzz/asked_policy.h"

static const char path[] = "gateway.json";

static void look_at(const struct config *c)
{
    if (c->settings.doc == NULL || c->settings.listen_count == 0 || c->policy == NULL)
        abort();
    if (allows(c->nobody))
        abort();
    for (size_t i = 0; i < c->settings.client_count; i++) {
        const struct config_client *client = &c->clients[i];

        if (config_find(c, str_from(client->settings->name)) != client)
            abort();
        (void)allows(client->policy);
    }
    (void)allows(c->policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct json_doc *doc = NULL;
    struct config *c = NULL;
    struct err e = {""};

    if (!json_parse(text, JSON_SETTINGS, &doc, &e))
        return 0;
    if (config_from_doc(path, &doc, on_warn, NULL, &c, &e)) {
        if (doc != NULL)
            abort();
        look_at(c);
    } else if (c != NULL || strstr(e.text, path) != e.text) {
        abort();
    }
    config_unref(&c);
    json_free(&doc);
    return 0;
}
