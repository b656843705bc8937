#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/base/buf.h"

static void test_empty_holds_nothing(void **state)
{
    struct buf b;
    size_t room;

    (void)state;
    buf_init(&b, 100);
    assert_null(b.bytes);
    assert_int_equal(buf_len(&b), 0);
    assert_int_equal(buf_room(&b), 100);
    assert_true(str_equal(buf_view(&b), STR("")));
    assert_true(buf_add(&b, STR("")));
    assert_null(b.bytes);
    assert_null(buf_tail(&b, 0, &room));
    assert_true(buf_add(&b, STR("abc")));
    buf_drain(&b, 3);
    assert_null(b.bytes); /* an idle connection costs nothing */
    assert_int_equal(buf_room(&b), 100);
    buf_done(&b);
}

static void test_bound(void **state)
{
    struct buf b;
    size_t room;

    (void)state;
    buf_init(&b, 10);
    assert_true(buf_add(&b, STR("0123456")));
    assert_false(buf_add(&b, STR("abcd"))); /* all or nothing */
    assert_true(str_equal(buf_view(&b), STR("0123456")));
    assert_non_null(buf_tail(&b, 100, &room));
    assert_int_equal(room, 3);
    assert_true(buf_add(&b, STR("789")));
    assert_null(buf_tail(&b, 1, &room));
    assert_int_equal(room, 0);
    buf_drain(&b, 4);
    assert_true(buf_add(&b, STR("abcd")));
    assert_true(str_equal(buf_view(&b), STR("456789abcd")));
    buf_done(&b);
}

/* What goes in comes out in order, whatever the pieces; sizes beyond a first growth. */
static void test_stream(void **state)
{
    enum { BYTES = 100000, MAX = 3000 };
    struct buf b;
    size_t in = 0, out = 0;
    unsigned random = 1;

    (void)state;
    buf_init(&b, MAX);
    while (out < BYTES) {
        size_t room;
        char *tail;

        random = random * 1103515245 + 12345;
        tail = buf_tail(&b, 1 + random / 65536 % 900, &room);
        for (size_t i = 0; i < room; i++)
            tail[i] = (char)((in + i) % 251);
        buf_filled(&b, room);
        in += room;
        random = random * 1103515245 + 12345;
        for (size_t n = random / 65536 % 700; n > 0 && buf_len(&b) > 0; n--) {
            assert_int_equal((unsigned char)buf_view(&b).p[0], out % 251);
            buf_drain(&b, 1);
            out++;
        }
        assert_int_equal(buf_len(&b), in - out);
    }
    buf_done(&b);
}

static void test_printf(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 10);
    assert_true(buf_printf(&b, "%d-%s", 12, "ab"));
    assert_true(buf_printf(&b, "%s", ""));
    assert_true(str_equal(buf_view(&b), STR("12-ab")));
    assert_false(buf_printf(&b, "%s", "0123456789"));
    assert_true(str_equal(buf_view(&b), STR("12-ab")));
    assert_true(buf_printf(&b, "cdef"));
    assert_true(str_equal(buf_view(&b), STR("12-abcdef")));
    buf_done(&b);
    assert_int_equal(b.max, 10); /* may be used again */
    assert_true(buf_printf(&b, "again"));
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_holds_nothing),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_printf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
