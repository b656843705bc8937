/* A name server may send any bytes. What is taken from them belongs to the question, is
 * bounded, and without duplicates; a message that is refused leaves nothing behind. */
#include <limits.h>
#include <stdlib.h>

#include "dns/message.h"
#include "proxy/base/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The name of the question, when it is one that a client could have asked for; else the
 * messages would hardly ever be about the name that is looked for. */
static void asked_name(const uint8_t *data, size_t size,
                       char name[HOST_NAME_MAX_LEN + 1])
{
    size_t at = 12, n = 0;

    while (at < size && data[at] != 0) {
        size_t label = data[at];

        if (label > 63 || size - at <= label || n + label + 1 > HOST_NAME_MAX_LEN)
            break;
        if (n > 0)
            name[n++] = '.';
        for (size_t i = 1; i <= label; i++) {
            uint8_t c = data[at + i];

            name[n++] = (char)(c >= 'a' && c <= 'z' ? c : 'x');
        }
        at += label + 1;
    }
    if (n == 0)
        name[n++] = 'a';
    name[n] = '\0';
}

static void check(const struct answer *a, unsigned char family)
{
    if (a->count > LOOKUP_MAX)
        abort();
    for (size_t i = 0; i < a->count; i++) {
        if (a->ips[i].family != family)
            abort();
        for (size_t j = 0; j < i; j++)
            if (ip_equal(&a->ips[i], &a->ips[j]))
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[HOST_NAME_MAX_LEN + 1];

    asked_name(data, size, name);
    for (int v6 = 0; v6 < 2; v6++) {
        struct answer *a = answer_new(LOOKUP_OK, NULL);

        a->ttl = UINT_MAX;
        if (!message_parse(data, size, name, v6 ? MESSAGE_AAAA : MESSAGE_A, a) &&
            (a->count != 0 || a->ttl != UINT_MAX))
            abort();
        check(a, v6 ? 6 : 4);
        answer_unref(&a);
    }
    return 0;
}
