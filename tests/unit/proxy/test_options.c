#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/options.h"

struct into {
    bool quiet, json, list;
    const char *settings;
    struct option_texts allow;
    unsigned level;
};

static const struct option table[] = {
    {"settings", 's', OPTION_TEXT, offsetof(struct into, settings), "FILE", "where"},
    {"allow", 0, OPTION_TEXTS, offsetof(struct into, allow), "HOST", "what"},
    {"level", 'l', OPTION_UINT, offsetof(struct into, level), "NUMBER", "how much"},
    {"quiet", 'q', OPTION_FLAG, offsetof(struct into, quiet), NULL, "less"},
    {"json", 'j', OPTION_FLAG, offsetof(struct into, json), NULL, "for programs"},
    {"list", 0, OPTION_HIDDEN_FLAG, offsetof(struct into, list), NULL, "hidden"},
    {.name = NULL},
};

enum { WORDS_MAX = 12 };

struct row {
    const char *words[WORDS_MAX];
    int rest;          /* -1: refused */
    const char *shows; /* the struct as text, or the error */
};

static const struct row rows[] = {
    {{"c"}, 1, "- 0 0 "},
    {{"c", "curl", "-s", "x"}, 1, "- 0 0 "},
    {{"c", "-s", "f", "curl", "-s", "x"}, 3, "f 0 0 "},
    {{"c", "-sf", "--quiet", "x"}, 3, "f 0 0 q"},
    {{"c", "--settings=f=g", "--settings", "h"}, 4, "h 0 0 "},
    {{"c", "-qj", "x"}, 2, "- 0 0 qj"},
    {{"c", "-qjs", "f", "x"}, 3, "f 0 0 qj"},
    {{"c", "-qsf", "x"}, 2, "f 0 0 q"},
    {{"c", "-l7", "--allow", "a", "--allow=b"}, 5, "- 7 2 "},
    {{"c", "--list"}, 2, "- 0 0 L"},
    {{"c", "--", "-q"}, 2, "- 0 0 "},
    {{"c", "-q", "--", "--"}, 3, "- 0 0 q"},
    {{"c", "-"}, 1, "- 0 0 "},
    {{"c", "-s", "--", "x"}, 3, "-- 0 0 "}, /* the value is the next word, always */
    {{"c", "-s", "-q"}, 3, "-q 0 0 "},

    {{"c", "-s"}, -1, "--settings takes a FILE"},
    {{"c", "--settings"}, -1, "--settings takes a FILE"},
    {{"c", "--settings="}, -1, "--settings: the value is empty, expected a FILE"},
    {{"c", "-s", ""}, -1, "--settings: the value is empty, expected a FILE"},
    {{"c", "--quiet=1"}, -1, "--quiet takes no value"},
    {{"c", "--setings", "f"},
     -1,
     "unknown option --setings (did you mean --settings?)"},
    {{"c", "--frobnicate"}, -1, "unknown option --frobnicate"},
    {{"c", "--setting"}, -1, "unknown option --setting (did you mean --settings?)"},
    {{"c", "-x"}, -1, "unknown option -x"},
    {{"c", "-qx"}, -1, "unknown option -x"},
    {{"c", "-l", "x"}, -1, "--level: \"x\" is no number from 0 to 999999999"},
    {{"c", "-l", "-1"}, -1, "--level: \"-1\" is no number"},
    {{"c", "-l", "01"}, -1, "--level: \"01\" is no number"},
    {{"c", "-l", "9999999999"}, -1, "--level: \"9999999999\" is no number"},
};

static void show(const struct into *i, char *text, size_t size)
{
    snprintf(text, size, "%s %u %zu %s%s%s", i->settings ? i->settings : "-", i->level,
             i->allow.count, i->quiet ? "q" : "", i->json ? "j" : "",
             i->list ? "L" : "");
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct into into = {0};
        struct err e = {""};
        char text[600];
        int argc = 0, rest = -1;
        bool ok;

        while (argc < WORDS_MAX && rows[i].words[argc] != NULL)
            argc++;
        ok = options_parse(table, &into, argc, (char **)rows[i].words, &rest, &e);
        assert_int_equal(ok, rows[i].rest >= 0);
        assert_int_equal(rest, rows[i].rest);
        show(&into, text, sizeof text);
        if (strstr(ok ? text : e.text, rows[i].shows) == NULL)
            fail_msg("row %zu: %s", i, ok ? text : e.text);
    }
}

static void test_too_many(void **state)
{
    struct into into = {0};
    struct err e = {""};
    const char *argv[OPTION_TEXTS_MAX + 2] = {"c"};
    int rest = 0;

    (void)state;
    for (int i = 1; i < OPTION_TEXTS_MAX + 2; i++)
        argv[i] = "--allow=x";
    assert_true(
        options_parse(table, &into, OPTION_TEXTS_MAX + 1, (char **)argv, &rest, &e));
    into = (struct into){0};
    assert_false(
        options_parse(table, &into, OPTION_TEXTS_MAX + 2, (char **)argv, &rest, &e));
    assert_string_equal(e.text, "--allow: more than 256 times");
}

static void test_ask_help(void **state)
{
    static const struct {
        const char *words[WORDS_MAX];
        bool asks;
    } cases[] = {
        {{"c", "-q", "--help", "--nonsense"}, true},
        {{"c", "-h"}, true},
        {{"c", "-s", "--help"}, false}, /* the value of another */
        {{"c", "curl", "--help"}, false},
        {{"c", "--", "--help"}, false},
        {{"c", "--nonsense", "--help"}, false},
        {{"c"}, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int argc = 0;

        while (cases[i].words[argc] != NULL)
            argc++;
        assert_int_equal(options_ask_help(table, argc, (char **)cases[i].words),
                         cases[i].asks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_ask_help),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
