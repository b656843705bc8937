#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy/notify.h"

static char path[64];
static int manager;

static int listen_there(void **state)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    (void)state;
    snprintf(path, sizeof path, "/tmp/weir-test-notify-%d", (int)getpid());
    snprintf(un.sun_path, sizeof un.sun_path, "%s", path);
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return bind(manager, (struct sockaddr *)&un, sizeof un);
}

static int stop_listening(void **state)
{
    (void)state;
    close(manager);
    return unlink(path);
}

static const char *heard(void)
{
    static char text[1024];
    ssize_t n = recv(manager, text, sizeof text - 1, MSG_DONTWAIT);

    if (n < 0)
        return "";
    text[n] = '\0';
    return text;
}

static void test_messages(void **state)
{
    struct notify n;
    const char *text;

    (void)state;
    setenv("NOTIFY_SOCKET", path, 1);
    notify_open(&n);
    assert_null(getenv("NOTIFY_SOCKET"));
    notify_ready(&n, "two\nlines\nREADY=0");
    assert_string_equal(heard(), "READY=1\nSTATUS=two?lines?READY=0\n");
    notify_reloading(&n, "reading");
    text = heard();
    assert_true(strncmp(text, "RELOADING=1\nMONOTONIC_USEC=", 27) == 0);
    assert_true(strtoull(text + 27, NULL, 10) > 0);
    notify_stopping(&n, "ending");
    assert_string_equal(heard(), "STOPPING=1\nSTATUS=ending\n");
    notify_alive(&n);
    assert_string_equal(heard(), "WATCHDOG=1\n");
    notify_close(&n);
}

static void test_watchdog(void **state)
{
    struct notify n;
    char own[16];

    (void)state;
    snprintf(own, sizeof own, "%d", (int)getpid());
    setenv("NOTIFY_SOCKET", path, 1);
    setenv("WATCHDOG_USEC", "2500000", 1);
    setenv("WATCHDOG_PID", own, 1);
    notify_open(&n);
    assert_true(n.watchdog > 2.4 && n.watchdog < 2.6);
    assert_null(getenv("WATCHDOG_USEC"));
    notify_close(&n);
    setenv("NOTIFY_SOCKET", path, 1);
    setenv("WATCHDOG_USEC", "2500000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    notify_open(&n);
    assert_true(n.watchdog == 0);
    notify_close(&n);
}

/* Nobody to tell, or nobody that can be told: nothing happens. */
static void test_nobody(void **state)
{
    static const char *const sockets[] = {
        "", "/", "@", "relative", "vsock:2:1234", "/nonexistent/there"};
    struct notify n;

    (void)state;
    for (size_t i = 0; i < sizeof sockets / sizeof *sockets; i++) {
        setenv("NOTIFY_SOCKET", sockets[i], 1);
        notify_open(&n);
        notify_ready(&n, "serving");
        notify_close(&n);
    }
    notify_open(&n);
    assert_int_equal(n.fd, -1);
    notify_alive(&n);
    assert_string_equal(heard(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_watchdog),
        cmocka_unit_test(test_nobody),
    };

    return cmocka_run_group_tests(tests, listen_there, stop_listening);
}
