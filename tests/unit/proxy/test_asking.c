/* Whose a connection is, where several share a listener. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/proxy/conn_world.h"

/* A door: `answer` for who has said nothing yet, and those who log in are `inner`. */
struct door {
    struct session *inner;
    enum identity answer;
};

static enum identity who_is_it(void *owner, const struct caller *who,
                               const struct login *login, struct session **session,
                               uint32_t *proof)
{
    const struct door *door = owner;

    assert_int_equal(who->from.family, 4);
    *session = door->inner;
    *proof = 0;
    return login != NULL && login->given ? IDENTITY_KNOWN : door->answer;
}

static void test_door(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    struct policy *nothing = policy_from("{}");
    struct session *inner = session_new(f->w.core, STR("inner"), nothing, NULL);
    struct door door = {inner, IDENTITY_KNOWN};
    int client = client_open(f);
    char got[TEXT_MAX];

    (void)state;
    policy_unref(&nothing);
    session_identify(f->session, who_is_it, &door);
    session_on_event(inner, on_event, f);
    ask(f, client, "good.test");
    hear(f, client, NULL, got);
    assert_non_null(strstr(got, " 403 "));
    assert_int_equal(f->event_count, 1);
    assert_int_equal(f->events[0].reason, REASON_NOT_ON_ALLOW_LIST);
    close(client);
    core_world_until(&f->w, session_connections(inner) == 0);
    session_free(&inner);
    fixture_free(f);
}

static void test_strangers(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    struct door door = {f->session, IDENTITY_UNKNOWN};
    int client = client_open(f);
    char got[TEXT_MAX];

    (void)state;
    session_identify(f->session, who_is_it, &door);
    ask(f, client, "good.test");
    assert_true(hear(f, client, NULL, got));
    assert_string_equal(got, "");
    assert_int_equal(f->event_count, 1);
    assert_int_equal(f->events[0].reason, REASON_AUTH);
    close(client);
    fixture_free(f);
}

static void test_login_wanted(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    struct door door = {f->session, IDENTITY_LOGIN};
    int client = client_open(f);
    char got[TEXT_MAX];

    (void)state;
    session_identify(f->session, who_is_it, &door);
    for (size_t i = 1; i <= 3; i++) {
        ask(f, client, "good.test");
        assert_false(hear(f, client, "(auth).\n", got));
        assert_non_null(strstr(got, " 407 "));
        assert_int_equal(f->event_count, i);
        assert_int_equal(f->events[i - 1].reason, REASON_AUTH);
    }
    close(client);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_door),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_login_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
