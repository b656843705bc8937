/* A settings file, from its bytes to a policy: loads or is refused with a sentence that
 * names the file, and nothing that was not listed gets through. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/settings.h"
#include "tests/fuzz/asked_policy.h"

static const char path[] = "settings.json";

static void load_policy(const struct settings *s)
{
    struct policy_layer layer = {.label = "", .doc = s->doc, .network = s->network};
    struct policy *p = NULL;
    struct err e = {""};
    bool ok = policy_load(&layer, 1, on_warn, NULL, &p, &e);

    if (ok != (p != NULL) || ok == (e.text[0] != '\0'))
        abort();
    if (ok)
        (void)allows(p);
    policy_unref(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct json_doc *doc = NULL;
    struct settings s = {0};
    struct err e = {""};

    if (!json_parse(text, JSON_SETTINGS, &doc, &e))
        return 0;
    if (settings_from_doc(path, &doc, on_warn, NULL, &s, &e)) {
        if (doc != NULL)
            abort();
        load_policy(&s);
    } else if (strstr(e.text, path) != e.text) {
        abort();
    }
    settings_done(&s);
    json_free(&doc);
    return 0;
}
