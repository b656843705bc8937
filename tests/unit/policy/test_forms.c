#include "proxy/policy/forms.h"
#include "tests/unit/policy/loaded.h"

/* An address, and what it is and hides, in order. */
static const struct {
    const char *address, *forms;
    bool unknown;
} rows[] = {
    {"192.0.2.1", "192.0.2.1", false},
    {"::ffff:192.0.2.1", "192.0.2.1", false}, /* is IPv4, hides nothing */
    {"2606:4700::1111", "2606:4700::1111", false},
    {"::192.0.2.1", "::192.0.2.1 192.0.2.1", false},
    {"::1", "::1 0.0.0.1", false},
    {"::ffff:0:192.0.2.1", "::ffff:0:c000:201 192.0.2.1", false},
    {"64:ff9b::192.0.2.1", "64:ff9b::c000:201 192.0.2.1", false},
    {"64:ff9b:0:0:0:1::1", "64:ff9b::1:0:1", false}, /* beside the /96 */
    {"64:ff9b:1::192.0.2.1", "64:ff9b:1::c000:201 192.0.2.1", true},
    {"64:ff9b:1:ffff::192.0.2.1", "64:ff9b:1:ffff::c000:201 192.0.2.1", true},
    {"64:ff9b:2::192.0.2.1", "64:ff9b:2::c000:201", false},
    {"2002:c000:201::", "2002:c000:201:: 192.0.2.1", false},
    {"2002:c000:201:1:2:3:4:5", "2002:c000:201:1:2:3:4:5 192.0.2.1", false},
    /* Teredo: the client inverted, then the server. */
    {"2001:0:c000:201:8000:63bf:80ff:fffe",
     "2001:0:c000:201:8000:63bf:80ff:fffe 127.0.0.1 192.0.2.1", false},
    {"2001:1::1", "2001:1::1", false},
    {"2001:db8::5efe:192.0.2.1", "2001:db8::5efe:c000:201 192.0.2.1", false},
    {"2001:db8::200:5efe:192.0.2.1", "2001:db8::200:5efe:c000:201 192.0.2.1", false},
    {"2001:db8::100:5efe:192.0.2.1", "2001:db8::100:5efe:c000:201 192.0.2.1", false},
    {"2001:db8::400:5efe:192.0.2.1", "2001:db8::400:5efe:c000:201", false},
    /* Two at once. */
    {"2002:c000:201::5efe:10.0.0.1", "2002:c000:201::5efe:a00:1 192.0.2.1 10.0.0.1",
     false},
    /* Configured below, of each length. */
    {"2a00:0:c000:201::", "2a00:0:c000:201:: 192.0.2.1/0", false},
    {"2a00:100:c0:2:1::", "2a00:100:c0:2:1:: 192.0.2.1/1", false},
    {"2a00:200:0:c000:2:100::", "2a00:200:0:c000:2:100:: 192.0.2.1/2", false},
    {"2a00:300:0:c0:0:201::", "2a00:300:0:c0:0:201:: 192.0.2.1/3", false},
    {"2a00:400::c0:2:100:0", "2a00:400::c0:2:100:0 192.0.2.1/4", false},
    {"2a00:500::c000:201", "2a00:500::c000:201 192.0.2.1/5", false},
    {"64:ff9b:1:1::192.0.2.1", "64:ff9b:1:1::c000:201 192.0.2.1/6", false},
};

static const char *const prefixes[] = {
    "2a00::/32",     "2a00:100::/40", "2a00:200::/48",          "2a00:300::/56",
    "2a00:400::/64", "2a00:500::/96", "64:ff9b:1:1:0:0:0:0/96",
};

static void test_forms(void **state)
{
    struct ip_range nat64[7];

    (void)state;
    for (size_t i = 0; i < 7; i++)
        assert_true(ip_range_parse(str_from(prefixes[i]), false, &nat64[i]));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256] = "", buf[IP_TEXT_MAX];
        struct forms forms;
        struct ip ip;

        assert_true(ip_parse(str_from(rows[i].address), &ip));
        forms_of(&ip, nat64, 7, &forms);
        for (size_t n = 0; n < forms.count; n++) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                     n > 0 ? " " : "", ip_text(&forms.form[n].ip, buf));
            if (forms.form[n].prefix != FORM_NOT_CONFIGURED)
                snprintf(text + strlen(text), sizeof text - strlen(text), "/%d",
                         forms.form[n].prefix);
        }
        if (strcmp(text, rows[i].forms) != 0 ||
            forms.is_unknown_nat64 != rows[i].unknown)
            fail_msg("%s: %s, %d", rows[i].address, text, forms.is_unknown_nat64);
    }
}

/* Every prefix and every built-in form at once: there is room. */
static void test_most(void **state)
{
    struct ip_range nat64[FORMS_NAT64_MAX];
    struct ip ip;
    struct forms forms;

    (void)state;
    assert_true(ip_parse(STR("2001:0:1:2:0:5efe:a00:1"), &ip));
    for (size_t i = 0; i < FORMS_NAT64_MAX; i++)
        assert_true(ip_range_parse(STR("2001::/32"), false, &nat64[i]));
    forms_of(&ip, nat64, FORMS_NAT64_MAX, &forms);
    assert_int_equal(forms.count, 1 + FORMS_NAT64_MAX + 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
