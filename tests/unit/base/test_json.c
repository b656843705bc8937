#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/base/json.h"

enum take { NEITHER, SETTINGS_ONLY, BOTH };

struct row {
    enum take take;
    struct str text;
    const char *says; /* a part of the error of the strictest style that refuses */
};

#define ROW(take, text, says)                \
    {                                        \
        take, {text, sizeof(text) - 1}, says \
    }

static const struct row rows[] = {
    ROW(BOTH, "{}", NULL),
    ROW(BOTH, " [ ] ", NULL),
    ROW(BOTH, "null", NULL),
    ROW(BOTH, "true", NULL),
    ROW(BOTH, "\"\"", NULL),
    ROW(BOTH, "\r\n\t[1,-0,0.5,1e5,1E-5,-1.25e+2]\n", NULL),
    ROW(BOTH, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00fc\\uD83D\\uDE00\"", NULL),
    ROW(BOTH, "\"\xc3\xbc\xf0\x9f\x98\x80\x7f\"", NULL),
    ROW(BOTH, "{\"a\":1,\"A\":2,\"\":3}", NULL), /* keys compare with case */
    ROW(BOTH, "\"// no comment\"", NULL),

    ROW(SETTINGS_ONLY, "[1,]", "line 1, column 3: [0]: a comma before ']'"),
    ROW(SETTINGS_ONLY, "{\"a\":1 , }", "a comma before '}'"),
    ROW(SETTINGS_ONLY, "// x\n1", "expected plain JSON, found '/'"),
    ROW(SETTINGS_ONLY, "// x\r1", "expected plain JSON"),
    ROW(SETTINGS_ONLY, "[1, /* x */ ]", "expected plain JSON"),
    ROW(SETTINGS_ONLY, "1 // x", "line 1, column 3: expected plain JSON"),
    ROW(SETTINGS_ONLY, "/**/1/***/", "expected plain JSON"),
    ROW(SETTINGS_ONLY, "/* \n \xc3\xbc */[]", "expected plain JSON"),
    ROW(SETTINGS_ONLY, "\xef\xbb\xbf{}", "expected a value, found"),

    ROW(NEITHER, "", "the text is empty"),
    ROW(NEITHER, " \n ", "line 2, column 2: the text ends here, expected a value"),
    ROW(NEITHER, "// only a comment", "the text ends here"),
    ROW(NEITHER, "/", "expected a value or a comment, found '/'"),
    ROW(NEITHER, "/* x", "line 1, column 1: a comment that does not end"),
    ROW(NEITHER, "/*/", "a comment that does not end"),
    ROW(NEITHER, "# x\n{}", "expected a value, found '#'"),
    ROW(NEITHER, "// \xff\n1", "the byte 0xff is not UTF-8"),
    ROW(NEITHER, "// \x1b\n1", "a control character (0x1b)"),
    ROW(NEITHER, "{} {}", "line 1, column 4: expected nothing behind the value"),
    ROW(NEITHER, "1\0", "expected nothing behind the value, found the byte 0x00"),
    ROW(NEITHER, "[1\0]", "found the byte 0x00"),
    ROW(NEITHER, "\"a\0\"", "a control character (0x00)"),
    ROW(NEITHER, "[,]", "expected a value, found ','"),
    ROW(NEITHER, "[1,,2]", "[1]: expected a value, found ','"),
    ROW(NEITHER, "[1 2]", "expected ',' or ']', found '2'"),
    ROW(NEITHER, "{,}", "expected a key in double quotes, found ','"),
    ROW(NEITHER, "{a:1}", "expected a key in double quotes, found 'a'"),
    ROW(NEITHER, "{'a':1}", "expected a key in double quotes"),
    ROW(NEITHER, "{\"a\" 1}", "a: expected ':' behind the key, found '1'"),
    ROW(NEITHER, "{\"a\":}", "a: expected a value, found '}'"),
    ROW(NEITHER, "{\"a\":1;}", "expected ',' or '}', found ';'"),
    ROW(NEITHER, "[1", "the text ends here, expected ',' or ']'"),
    ROW(NEITHER, "{\"a\"", "the text ends here, expected ':'"),
    ROW(NEITHER, "]", "expected a value, found ']'"),
    ROW(NEITHER, "[}", "expected a value, found '}'"),
    ROW(NEITHER, "\"", "a string that does not end"),
    ROW(NEITHER, "\"a\n\"", "line 1, column 1: a string that does not end"),
    ROW(NEITHER, "\"a\tb\"", "line 1, column 3: a control character (0x09)"),
    ROW(NEITHER, "\"\\", "a backslash, and no escape that JSON knows"),
    ROW(NEITHER, "\"\\x41\"", "a backslash, and no escape that JSON knows"),
    ROW(NEITHER, "\"\\\0\"", "a backslash, and no escape that JSON knows"),
    ROW(NEITHER, "\"\\u12", "\\u takes four hexadecimal digits"),
    ROW(NEITHER, "\"\\u12g4\"", "\\u takes four hexadecimal digits"),
    ROW(NEITHER, "\"a\\u0000.test\"", "\\u0000 is not accepted"),
    ROW(NEITHER, "\"\\ud83d\"", "half of a surrogate pair (\\ud83d) stands alone"),
    ROW(NEITHER, "\"\\ud83d\\u0041\"", "half of a surrogate pair"),
    ROW(NEITHER, "\"\\ud83d\\ud83d\"", "half of a surrogate pair"),
    ROW(NEITHER, "\"\\ud83dx\\ude00\"", "half of a surrogate pair"),
    ROW(NEITHER, "\"\\ude00\"", "half of a surrogate pair (\\ude00) stands alone"),
    ROW(NEITHER,
        "[\"b\xfc"
        "cher\"]",
        "line 1, column 4: [0]: the byte 0xfc is not UTF-8"),
    ROW(NEITHER, "\"\xed\xa0\x80\"", "the byte 0xed is not UTF-8"),
    ROW(NEITHER, "\"\xc0\x80\"", "the byte 0xc0 is not UTF-8"),
    ROW(NEITHER, "01", "a number with a leading zero"),
    ROW(NEITHER, "-01", "a number with a leading zero"),
    ROW(NEITHER, "-", "expected a digit"),
    ROW(NEITHER, "1.", "expected a digit"),
    ROW(NEITHER, "[1.]", "expected a digit, found ']'"),
    ROW(NEITHER, ".5", "expected a value, found '.'"),
    ROW(NEITHER, "+1", "expected a value, found '+'"),
    ROW(NEITHER, "1e", "expected a digit"),
    ROW(NEITHER, "1e999", "a number too large"),
    ROW(NEITHER, "0x10", "expected nothing behind the value, found 'x'"),
    ROW(NEITHER, "[1e5x]", "expected ',' or ']', found 'x'"),
    ROW(NEITHER,
        "1000000000000000000000000000000000000000000000000000000000000000000000",
        "a number of more than 60 digits"),
    ROW(NEITHER, "NaN", "expected a value, found 'N'"),
    ROW(NEITHER, "Infinity", "expected a value"),
    ROW(NEITHER, "True", "expected a value"),
    ROW(NEITHER, "nul", "expected a value"),
    ROW(NEITHER, "truee", "expected nothing behind the value, found 'e'"),
    ROW(NEITHER, "{\"a\":1,\n \"a\":2}",
        "line 2, column 2: the key \"a\" stands here and in line 1"),
    ROW(NEITHER, "{\"a\":1,\"\\u0061\":2}", "the key \"a\" stands here"),
    ROW(NEITHER, "[[{\"x\":{\"b\":1,\"b\":1}}]]", "the key \"b\" stands here"),
    ROW(NEITHER, "{\"network\":{\"allowedDomains\":[\"a\",x]}}",
        "line 1, column 35: network.allowedDomains[1]: expected a value, found 'x'"),
};

static void check_row(const struct row *row, enum json_style style)
{
    struct json_doc *doc = NULL;
    struct err e = {""};
    bool takes = row->take == BOTH || (row->take == SETTINGS_ONLY && style != 0);
    bool ok = json_parse(row->text, style, &doc, &e);

    if (ok != takes)
        fail_msg(STR_FMT ": style %d: %s", STR_ARG(row->text), style,
                 ok ? "accepted" : e.text);
    if (!ok && (row->take == NEITHER ? style == JSON_SETTINGS : true) &&
        strstr(e.text, row->says) == NULL)
        fail_msg(STR_FMT ": said \"%s\", expected \"%s\"", STR_ARG(row->text), e.text,
                 row->says);
    assert_true(ok == (doc != NULL));
    json_free(&doc);
}

/* Each text lies in a block of its own size, so that a read beyond it is seen. */
static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct row row = rows[i];
        char *copy = malloc(row.text.n + (row.text.n == 0));

        memcpy(copy, row.text.p, row.text.n);
        row.text.p = copy;
        check_row(&row, JSON_PROTOCOL);
        check_row(&row, JSON_SETTINGS);
        free(copy);
    }
}

static struct json_doc *parse(const char *text, enum json_style style)
{
    struct json_doc *doc = NULL;
    struct err e;

    if (!json_parse(str_from(text), style, &doc, &e))
        fail_msg("%s", e.text);
    return doc;
}

static bool parses_nested(size_t depth)
{
    char text[2 * 1000 + 1] = "";
    struct json_doc *doc = NULL;
    struct err e;
    bool ok;

    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    ok = json_parse((struct str){text, 2 * depth}, JSON_PROTOCOL, &doc, &e);
    json_free(&doc);
    return ok;
}

static void test_depth(void **state)
{
    (void)state;
    assert_true(parses_nested(JSON_DEPTH_MAX));
    assert_false(parses_nested(JSON_DEPTH_MAX + 1));
    assert_false(parses_nested(1000));
}

static void test_lines(void **state)
{
    struct json_doc *doc = parse("{ // 1\n"
                                 "  \"a\":\n"
                                 "    [1, /* 3\n"
                                 "      4 */ 2,\r\n"
                                 "     {\"x\": null},],\n"
                                 "  \"b\": 5,\n"
                                 "}\n",
                                 JSON_SETTINGS);
    const cJSON *root = json_root(doc), *a = json_get(root, "a");
    cJSON other = {0};

    (void)state;
    assert_int_equal(json_line(doc, root), 1);
    assert_int_equal(json_line(doc, a), 2); /* a member stands where its key stands */
    assert_int_equal(json_line(doc, cJSON_GetArrayItem(a, 0)), 3);
    assert_int_equal(json_line(doc, cJSON_GetArrayItem(a, 1)), 4);
    assert_int_equal(json_line(doc, json_get(cJSON_GetArrayItem(a, 2), "x")), 5);
    assert_int_equal(json_line(doc, json_get(root, "b")), 6);
    assert_int_equal(json_line(doc, &other), 0);
    assert_int_equal(json_line(NULL, root), 0);
    assert_null(json_get(root, "B"));
    assert_null(json_get(a, "x"));
    assert_null(json_get(NULL, "x"));
    json_free(&doc);
}

static void test_columns_count_characters(void **state)
{
    struct json_doc *doc = NULL;
    struct err e;

    (void)state;
    assert_false(json_parse(STR("\xef\xbb\xbf[\"\xc3\xbc\xf0\x9f\x98\x80\" x"),
                            JSON_SETTINGS, &doc, &e));
    assert_non_null(strstr(e.text, "line 1, column 7: "));
}

static void test_strings_reach_the_tree(void **state)
{
    struct json_doc *doc =
        parse("[\"\\u00fc\\ud83d\\ude00\\n\", /* \" */ \"/*\",]", JSON_SETTINGS);
    const cJSON *root = json_root(doc);

    (void)state;
    assert_int_equal(cJSON_GetArraySize(root), 2);
    assert_string_equal(cJSON_GetArrayItem(root, 0)->valuestring,
                        "\xc3\xbc\xf0\x9f\x98\x80\n");
    assert_string_equal(cJSON_GetArrayItem(root, 1)->valuestring, "/*");
    json_free(&doc);
}

/* A long key or a deep path must not push the reason out of the message. */
static void test_long_keys_in_messages(void **state)
{
    char text[2000];
    size_t n = 0;
    struct json_doc *doc = NULL;
    struct err e;

    (void)state;
    for (int i = 0; i < 10; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "{\"%0150d\":", i);
    assert_false(json_parse((struct str){text, n}, JSON_SETTINGS, &doc, &e));
    assert_non_null(strstr(e.text, "the text ends here, expected a value"));
    assert_non_null(strstr(e.text, "line 1, column 1541"));
}

enum { MANY = 100000 };

/* {"k0":"v","k1":"v",…}, a line each; the last key may repeat an earlier one. */
static char *many_keys(bool repeat)
{
    size_t size = MANY * 24, n = 0;
    char *text = malloc(size);

    for (int i = 0; i < MANY; i++)
        n += (size_t)snprintf(text + n, size - n, "%s\"k%d\":\"v\",\n",
                              i == 0 ? "{" : "", i);
    snprintf(text + n, size - n, "\"k%d\":1}", repeat ? 77 : MANY);
    return text;
}

static void test_many_keys(void **state)
{
    char *text = many_keys(false), *twice = many_keys(true);
    struct json_doc *doc = parse(text, JSON_PROTOCOL);
    unsigned line = 1;
    const cJSON *node;
    struct err e;

    (void)state;
    cJSON_ArrayForEach(node, json_root(doc))
        assert_int_equal(json_line(doc, node), line++);
    assert_int_equal(line, MANY + 2);
    json_free(&doc);
    assert_false(json_parse(str_from(twice), JSON_PROTOCOL, &doc, &e));
    assert_non_null(strstr(e.text, "line 100001, column 1: the key \"k77\" stands here "
                                   "and in line 78"));
    free(text);
    free(twice);
}

static void test_only_keys(void **state)
{
    static const char *const known[] = {"allowedDomains", "deniedDomains", "mode",
                                        NULL};
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"mode\":1,\"deniedDomains\":2}", NULL},
        {"{}", NULL},
        {"{\"mode\":1,\"allowedHosts\":2}",
         "unknown key \"allowedHosts\" (did you mean \"allowedDomains\"?)"},
        {"{\"alowedDomains\":2}", "did you mean \"allowedDomains\"?"},
        {"{\"Mode\":2}", "unknown key \"Mode\" (did you mean \"mode\"?)"},
        {"{\"denyDomains\":2}", "did you mean \"deniedDomains\"?"},
        {"{\"sandbox\":2}", "unknown key \"sandbox\""},
        {"{\"\":2}", "unknown key \"\""},
        {"{\"a\\u0007\":2}", "unknown key \"a\\u0007\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_doc *doc = parse(cases[i].text, JSON_PROTOCOL);
        const cJSON *bad = NULL;
        struct err e = {""};
        bool ok = json_only_keys(json_root(doc), known, &bad, &e);

        assert_int_equal(ok, cases[i].says == NULL);
        assert_int_equal(ok, bad == NULL);
        if (!ok && strstr(e.text, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].text, e.text);
        json_free(&doc);
    }
}

static void test_near(void **state)
{
    static const char *const known[] = {"run", "gateway", "check", "help", NULL};
    char long_word[300];

    (void)state;
    assert_string_equal(json_near("chekc", known), "check"); /* a swap is one edit */
    assert_string_equal(json_near("gatway", known), "gateway");
    assert_string_equal(json_near("HELP", known), "help");
    assert_null(json_near("probe", known));
    assert_null(json_near("", known));
    memset(long_word, 'x', sizeof long_word);
    long_word[sizeof long_word - 1] = '\0';
    assert_null(json_near(long_word, known));
}

static void test_quote(void **state)
{
    static const struct {
        struct str in;
        const char *out;
    } cases[] = {
        {{"", 0}, "\"\""},
        {{"a\"b\\c/", 6}, "\"a\\\"b\\\\c/\""},
        {{"\n\r\t\b\f\0\x1b\x7f", 8}, "\"\\n\\r\\t\\b\\f\\u0000\\u001b\\u007f\""},
        {{"\xc2\x9b\xc2\xa0\xe2\x80\xae", 7}, "\"\\u009b\xc2\xa0\\u202e\""},
        {{"\xc3\xbc\xff\xc3", 4}, "\"\xc3\xbc\xef\xbf\xbd\xef\xbf\xbd\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t want = strlen(cases[i].out);
        char *out = malloc(want);

        assert_int_equal(json_quote(cases[i].in, out, want), want);
        assert_memory_equal(out, cases[i].out, want);
        for (size_t size = 0; size < want; size++)
            assert_int_equal(json_quote(cases[i].in, out, size), 0);
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_columns_count_characters),
        cmocka_unit_test(test_strings_reach_the_tree),
        cmocka_unit_test(test_long_keys_in_messages),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_only_keys),
        cmocka_unit_test(test_near),
        cmocka_unit_test(test_quote),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
