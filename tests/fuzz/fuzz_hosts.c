/* Any text may stand in a hosts file. Each name in it that can be asked for is found
 * again, unless no address stands before it. */
#include <stdlib.h>

#include "dns/hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct hosts *h, const char *name)
{
    struct answer *a = hosts_lookup(h, name, 1);

    if (a != NULL && a->status == LOOKUP_OK && (a->count == 0 || a->count > LOOKUP_MAX))
        abort();
    answer_unref(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hosts *h = hosts_new("");
    struct str text = {(const char *)data, size}, rest = text;
    char name[32];

    hosts_parse(h, text);
    look(h, "localhost");
    look(h, "a.test");
    for (int i = 0; i < 100 && rest.n > 0; i++) {
        struct str word = str_head(str_cut(&rest, ' '), sizeof name - 1);

        memcpy(name, word.p, word.n);
        name[word.n] = '\0';
        look(h, name);
    }
    hosts_free(&h);
    return 0;
}
