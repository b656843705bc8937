/* Rules in, mounts out: a table, each case as text. A rule is a letter and a path: r
 * hides, w makes read-only, k keeps, e empties, R shows, W opens for writing, p pins. A
 * mount is "access path", with "!" for a pin and "+" for a passage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "launcher/access.h"

struct row {
    const char *rules, *mounts;
};

static const struct row rows[] = {
    {"", ""},
    {"r/a", "hide /a"},
    {"W/a", "write /a"},
    {"w/a", ""}, /* nothing is writable there anyway */
    {"R/a", ""}, /* nor hidden */
    {"k/a", ""},
    {"r/a r/a", "hide /a"},
    {"r/a W/a", "hide /a"}, /* a tie denies */
    {"r/a R/a", "hide /a"},
    {"w/a W/a", ""},
    /* the longest path decides, whatever the order */
    {"W/a w/a/b W/a/b/c", "write /a, read /a/b, write /a/b/c"},
    {"W/a/b/c w/a/b W/a", "write /a, read /a/b, write /a/b/c"},
    {"r/a R/a/b", "hide+ /a, read /a/b"},
    {"r/a W/a/b", "hide+ /a, write /a/b"}, /* writing opens reading */
    {"r/a R/a/b r/a/b/c", "hide+ /a, read /a/b, hide /a/b/c"},
    {"r/a r/a/b", "hide /a"},
    {"W/a r/a/s", "write /a, hide /a/s"},
    {"W/a W/a/b", "write /a"},
    /* what looks alike is not below */
    {"W/a r/ab", "write /a, hide /ab"},
    {"r/a-b R/a/x r/a", "hide+ /a, read /a/x, hide /a-b"},
    /* folders above what is protected are pinned, from the writable tree on */
    {"W/t r/t/a/b/s", "write /t, write! /t/a, write! /t/a/b, hide /t/a/b/s"},
    {"W/t r/t/a/s r/t/a/u", "write /t, write! /t/a, hide /t/a/s, hide /t/a/u"},
    {"W/t w/t/a/b W/t/a/b/c/d", "write /t, write! /t/a, read /t/a/b, write /t/a/b/c/d"},
    {"W/ k/h/f", "write! /h, read /h/f"},
    {"W/a/t k/a/t/h/f", "write /a/t, write! /a/t/h, read /a/t/h/f"},
    {"k/a/t/h/f", ""},
    /* a longer allow does not lift what is kept */
    {"W/t k/t/g W/t/g/h", "write /t, read /t/g"},
    {"k/t W/t/a", ""},
    {"k/t r/t/a", "hide /t/a"},
    /* pins count in writable trees only */
    {"p/a/link", ""},
    {"W/a p/a/link", "write /a, write! /a/link"},
    {"W/a w/a/b p/a/b/link", "write /a, read /a/b"},
    {"r/a p/a/link", "hide /a"},
    {"e/etc", "empty /etc"},
    {"e/etc/x r/etc", "hide /etc"},
};

static const char letters[] = "rwkeRWp";
static const enum access_effect effects[] = {
    ACCESS_DENY_READ,  ACCESS_DENY_WRITE,  ACCESS_KEEP, ACCESS_EMPTY,
    ACCESS_ALLOW_READ, ACCESS_ALLOW_WRITE, ACCESS_PIN,
};

static void add_rules(struct access_list *l, const char *text)
{
    char copy[256];
    char *rest = NULL;

    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest))
        access_add(l, word + 1, PATH_FOLDER,
                   effects[strchr(letters, word[0]) - letters], word);
}

static const char *word_of(const struct access_mount *m)
{
    if (m->empty)
        return "empty";
    if (m->access == ACCESS_WRITE)
        return "write";
    return m->access == ACCESS_READ ? "read" : "hide";
}

static void print_mounts(const struct access_list *l, char *out, size_t size)
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < l->mount_count; i++) {
        const struct access_mount *m = &l->mounts[i];

        n += (size_t)snprintf(out + n, size - n, "%s%s%s%s %s", i > 0 ? ", " : "",
                              word_of(m), m->pin ? "!" : "", m->passage ? "+" : "",
                              m->path);
    }
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct access_list l;
        char mounts[1024];
        struct err e;

        access_init(&l);
        add_rules(&l, rows[i].rules);
        /* Twice: the plan adds rules to a list that it has compiled. */
        assert_true(access_compile(&l, &e));
        assert_true(access_compile(&l, &e));
        print_mounts(&l, mounts, sizeof mounts);
        if (strcmp(mounts, rows[i].mounts) != 0)
            fail_msg("%s: %s, expected %s", rows[i].rules, mounts, rows[i].mounts);
        access_done(&l);
    }
}

static void test_root_cannot_be_hidden(void **state)
{
    struct access_list l;
    struct err e;

    (void)state;
    access_init(&l);
    add_rules(&l, "r/ W/a");
    assert_false(access_compile(&l, &e));
    assert_non_null(strstr(e.text, "cannot be hidden whole"));
    access_done(&l);
}

static void test_at(void **state)
{
    struct access_list l;
    struct err e;

    (void)state;
    access_init(&l);
    add_rules(&l, "W/a w/a/b W/a/b/c r/s R/s/open");
    assert_true(access_compile(&l, &e));
    assert_int_equal(access_at(&l, "/"), ACCESS_READ);
    assert_int_equal(access_at(&l, "/a"), ACCESS_WRITE);
    assert_int_equal(access_at(&l, "/ab"), ACCESS_READ);
    assert_int_equal(access_at(&l, "/a/x/y"), ACCESS_WRITE);
    assert_int_equal(access_at(&l, "/a/b/x"), ACCESS_READ);
    assert_int_equal(access_at(&l, "/a/b/c/x"), ACCESS_WRITE);
    assert_int_equal(access_at(&l, "/s/x"), ACCESS_NONE);
    assert_int_equal(access_at(&l, "/s/open/x"), ACCESS_READ);
    assert_int_equal(access_at(&l, "/z"), ACCESS_READ);
    assert_string_equal(access_decider(&l, "/s/x")->source, "r/s");
    access_done(&l);
}

static void test_many(void **state)
{
    struct access_list l;
    char path[64];
    struct err e;

    (void)state;
    access_init(&l);
    access_add(&l, "/t", PATH_FOLDER, ACCESS_ALLOW_WRITE, "t");
    for (int i = 0; i < 20000; i++) {
        snprintf(path, sizeof path, "/t/deep/f%d", i);
        access_add(&l, path, PATH_FILE, ACCESS_DENY_READ, "f");
    }
    assert_true(access_compile(&l, &e));
    assert_int_equal(l.mount_count, 20002);
    assert_int_equal(access_at(&l, "/t/deep/f19999"), ACCESS_NONE);
    access_done(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_root_cannot_be_hidden),
        cmocka_unit_test(test_at),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
