/* The same bytes give the same answer in one piece and in two; an answer that is final
 * stays; a name has no NUL and fits. A short prefix decides whether it is TLS. What
 * stands before a second hello changes nothing in it. */
#include <stdint.h>
#include <stdlib.h>

#include "tls/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void check(const struct hello *h)
{
    require(h->name_len <= HELLO_NAME_MAX && strlen(h->name) == h->name_len);
    require(strnlen(h->alpn, sizeof h->alpn) < sizeof h->alpn);
    for (const char *p = h->alpn; *p != '\0'; p++)
        require(*p > 0x20 && *p < 0x7f);
}

static void check_second(struct str in, enum hello_parse first, const struct hello *as)
{
    struct hello second = {0};
    enum hello_parse result = hello_parse_second(in, &second);

    check(&second);
    require(result != HELLO_NOT_TLS);
    if (first == HELLO_DONE)
        require(result == HELLO_DONE && strcmp(second.name, as->name) == 0);
}

static void check_answer(struct str in)
{
    enum hello_answer whole = hello_answer(in);

    require(in.n < HELLO_ANSWER_LEN || whole != HELLO_UNANSWERED);
    for (size_t n = 0; n < in.n && n < HELLO_ANSWER_LEN; n++) {
        enum hello_answer early = hello_answer(str_head(in, n));

        require(early == HELLO_UNANSWERED || early == whole);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = {(const char *)data, size};
    struct hello whole = {0}, part = {0};
    enum hello_parse result = hello_parse(in, &whole);

    check(&whole);
    require(result != HELLO_DONE || (whole.used > 0 && whole.used <= size));
    check_second(in, result, &whole);
    check_answer(in);
    require(result != HELLO_MORE || size < HELLO_MAX);
    require((hello_parse(str_head(in, 2), &part) == HELLO_NOT_TLS) ==
            (result == HELLO_NOT_TLS));
    for (size_t n = 1; n < size; n += 1 + n / 3) {
        enum hello_parse early = hello_parse(str_head(in, n), &part);

        check(&part);
        require(early == HELLO_MORE || early == result);
        if (early == HELLO_DONE)
            require(strcmp(part.name, whole.name) == 0 &&
                    part.encrypted == whole.encrypted);
    }
    return 0;
}
