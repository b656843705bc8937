#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/basic_login.h"

static const struct row {
    const char *value;
    const char *user, *password; /* NULL: good for nothing */
} rows[] = {
    {"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"},
    {"basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"},
    {"BASIC  QWxhZGRpbjpvcGVuIHNlc2FtZQ== ", "Aladdin", "open sesame"},
    {"Basic YTpi", "a", "b"},
    {"Basic YTpiYw==", "a", "bc"},
    {"Basic YTpiY2Q=", "a", "bcd"},
    {"Basic OnRva2Vu", "", "token"},
    {"Basic dG9rZW46", "token", ""},
    {"Basic YTpiOmM=", "a", "b:c"},
    {"Basic YTo+Pj4/Pz8=", "a", ">>>???"},
    {"Basic Og==", "", ""},

    {"", NULL, NULL},
    {"Basic", NULL, NULL},
    {"Basic ", NULL, NULL},
    {"Bearer YTpi", NULL, NULL},
    {"BasicYTpi", NULL, NULL},
    {"Basic YTp", NULL, NULL},
    {"Basic YTpiYw", NULL, NULL},
    {"Basic YTpiYw=", NULL, NULL},
    {"Basic YTpiYx==", NULL, NULL},
    {"Basic YTpiY2R=", NULL, NULL},
    {"Basic YTpi====", NULL, NULL},
    {"Basic =", NULL, NULL},
    {"Basic ====", NULL, NULL},
    {"Basic YT:i", NULL, NULL},
    {"Basic YT-_", NULL, NULL},
    {"Basic YTpi YTpi", NULL, NULL},
    {"Basic YWJj", NULL, NULL},
};

static void check_row(const struct row *row)
{
    struct login login;
    struct arena a;

    arena_init(&a, 256);
    login = basic_login_parse(str_from(row->value), &a);
    assert_true(login.given);
    if (!str_equal(login.user, str_from(row->user != NULL ? row->user : "")) ||
        !str_equal(login.password,
                   str_from(row->password != NULL ? row->password : "")))
        fail_msg("%s: \"" STR_FMT "\" \"" STR_FMT "\"", row->value, STR_ARG(login.user),
                 STR_ARG(login.password));
    arena_done(&a);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
}

static void test_full_arena(void **state)
{
    struct login login;
    struct arena a;

    (void)state;
    arena_init(&a, 4);
    login = basic_login_parse(STR("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), &a);
    assert_true(login.given);
    assert_int_equal(login.user.n + login.password.n, 0);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_full_arena),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
