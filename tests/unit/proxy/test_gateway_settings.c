#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "proxy/gateway_settings.h"
#include "tests/unit/proxy/settings_rows.h"

#define LISTEN "\"listen\":[\"127.0.0.1:3128\"]"

static const struct row gateway_rows[] = {
    {"{" LISTEN "}", NULL, NULL},
    {"{\"listen\":[\"127.0.0.1:0\",\"127.0.0.1:0\",\"[::1]:3128\",\"unix:/a\"]}", NULL,
     NULL},
    {"{\"listen\":[\n\"127.8.9.1:1\",\n\"0.0.0.0:1\"]}", NULL,
     "line 3: listen[1]: whoever reaches this address may use the gateway"},
    {"{\"listen\":[\"[::]:1\"]}", NULL, "listen[0]: whoever"},
    {"{" LISTEN ",\"control\":{},\"workers\":1}", NULL, NULL},
    {"{" LISTEN ",\"workers\":256,\"admin\":\"127.0.0.1:9128\"}", NULL, NULL},
    {"{" LISTEN ",\"admin\":\"unix:/a\"}", NULL, NULL},
    {"{" LISTEN ",\"admin\":\"[::1]:0\"}", NULL, NULL},
    {"{\"listen\":[\"systemd\",\"fd:3\",{\"address\":\"fd:4\"},"
     "{\"address\":\"127.0.0.1:1\",\"proxyProtocol\":[\"10.0.0.0/8\",\"::1\"]}]}",
     NULL, NULL},
    {"{" LISTEN ",\"network\":{\"anything\":1}}", NULL, NULL},
    {"{" LISTEN ",\"audit\":{\"file\":\"/x\",\"onFull\":\"count\"}}", NULL, NULL},
    {"{" LISTEN ",\"audit\":{\"file\":\"-\",\"onFull\":\"refuse\"}}", NULL, NULL},
    {"{" LISTEN ",\"limits\":{}}", NULL, NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":1,\"drainSeconds\":0,"
     "\"idleSeconds\":0.5,\"headBytes\":1048576}}",
     NULL, NULL},
    {"{" LISTEN ",\"resolver\":{\"servers\":[\"192.0.2.1\",\"192.0.2.1:53\","
     "\"2001:db8::1\",\"[2001:db8::1]:53\"],\"hostsFile\":\"\"}}",
     NULL, NULL},

    {"{}", "listen: missing", NULL},
    {"{\"network\":{}}", "(a settings file has none: that is given with -s to weir run",
     NULL},
    {"[]", "line 1: expected an object", NULL},
    {"{\"listen\":[]}", "listen: expected a list with at least one address", NULL},
    {"{\"listen\":\"127.0.0.1:1\"}", "listen: expected a list", NULL},
    {"{\"listen\":[1]}", "line 1: listen[0]: expected a string", NULL},
    {"{\"listen\":[null]}", "listen[0]: expected a string", NULL},
    {"{\"listen\":[{}]}", "listen[0].address: expected a string", NULL},
    {"{\"listen\":[{\"address\":7}]}", "listen[0].address: expected a string", NULL},
    {"{\"listen\":[{\"adress\":\"127.0.0.1:1\"}]}",
     "listen[0]: unknown key \"adress\" (did you mean \"address\"?)", NULL},
    {"{\"listen\":[{\"address\":\"localhost:1\"}]}",
     "listen[0].address: \"localhost:1\": expected an IP address", NULL},
    {"{\"listen\":[\"systemd\",\"systemd\"]}", "listen[1]: \"systemd\" is in the list",
     NULL},
    {"{\"listen\":[\"System\"]}", "\"System\": expected an IP address", NULL},
    {"{\"listen\":[\"fd:2\"]}", "expected a descriptor from 3 to 1023", NULL},
    {"{\"listen\":[\"fd:\"]}", "expected a descriptor", NULL},
    {"{\"listen\":[\"fd:03\"]}", "expected a descriptor", NULL},
    {"{\"listen\":[\"fd:1024\"]}", "expected a descriptor", NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\",\n\"proxyProtocol\":[]}]}",
     "line 2: listen[0].proxyProtocol: expected a list with at least one address",
     NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\",\"proxyProtocol\":true}]}",
     "listen[0].proxyProtocol: expected a list", NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\",\"proxyProtocol\":[\"lb.test\"]}]}",
     "listen[0].proxyProtocol[0]: \"lb.test\": expected an address or a range", NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\",\"proxyProtocol\":[\"10.0.0.1/8\"]}]}",
     "\"10.0.0.1/8\": there are bits set beyond the prefix", NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\",\"proxyProtocol\":[\"::ffff:10.0.0.1\"]"
     "}]}",
     "write it as IPv4", NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\",\"proxyProtocol\":[\"::1\",\"::1\"]}]}",
     "proxyProtocol[1]: \"::1\" is in the list already", NULL},
    {"{\"listen\":[{\"address\":\"unix:/a\",\"proxyProtocol\":[\"::1\"]}]}",
     "who connects to a Unix socket has no address", NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\",\"tls\":{}}]}",
     "listen[0].tls.cert: missing", NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\",\"tls\":{\"cert\":\"c\"}}]}",
     "listen[0].tls.key: missing", NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\",\"tls\":{\"cert\":\"c\",\"key\":\"k\","
     "\"clientCa\":1}}]}",
     "listen[0].tls.clientCa: expected the path", NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\",\"tls\":{\"crt\":\"c\"}}]}",
     "listen[0].tls: unknown key \"crt\" (did you mean \"cert\"?)", NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\",\"tls\":{\"cert\":\"c\",\"key\":\"k\"}}"
     "]"
     "}",
     "listen[0].tls: cannot read the certificate", NULL},
    {"{\"listen\":[\"localhost:1\"]}", "\"localhost:1\": expected an IP address", NULL},
    {"{\"listen\":[\":3128\"]}", "\":3128\": expected an IP address", NULL},
    {"{\"listen\":[\"127.0.0.1\"]}", "expected an IP address with a port", NULL},
    {"{\"listen\":[\"127.0.0.1:65536\"]}", "expected an IP address with a port", NULL},
    {"{\"listen\":[\"::1:3128\"]}", "expected an IP address with a port", NULL},
    {"{\"listen\":[\"unix:x\"]}", "listen[0]: expected an absolute path", NULL},
    {"{\"listen\":[\"unix:\"]}", "listen[0]: expected an absolute path", NULL},
    {"{\"listen\":[\"unix:/"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]}",
     "a Unix socket can have 107", NULL},
    {"{\"listen\":[\"127.0.0.1:1\",\n\"127.0.0.1:1\"]}",
     "line 2: listen[1]: \"127.0.0.1:1\" is in the list already", NULL},
    {"{\"listen\":[\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\","
     "\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\","
     "\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\","
     "\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\"]}",
     "listen[16]: more than 16 listening sockets", NULL},
    {"{" LISTEN ",\"netwrok\":{}}", "did you mean \"network\"?", NULL},
    {"{" LISTEN ",\"network\":null}", "network: expected an object", NULL},
    {"{" LISTEN ",\"filesystem\":{}}",
     "filesystem: belongs to a settings file, which is given with -s to weir run or "
     "weir "
     "check",
     NULL},
    {"{" LISTEN ",\"admin\":null}", "admin: expected a string", NULL},
    {"{" LISTEN ",\"admin\":\"0.0.0.0:1\"}", "admin: \"0.0.0.0:1\": only this host may",
     NULL},
    {"{" LISTEN ",\"admin\":\"localhost:1\"}", "expected an address of loopback", NULL},
    {"{" LISTEN ",\"admin\":\"unix:a\"}", "admin: expected an absolute path", NULL},
    {"{" LISTEN ",\"admin\":\"fd:3\"}", "expected an address of loopback", NULL},
    {"{" LISTEN ",\"control\":{\"path\":\"/x\"}}", "control: not supported yet", NULL},
    {"{" LISTEN ",\"workers\":257}", "workers: expected a whole number from 1 to 256",
     NULL},
    {"{" LISTEN ",\"workers\":1.5}", "workers: expected a whole number", NULL},
    {"{" LISTEN ",\"workers\":0}", "workers: expected a whole number", NULL},
    {"{" LISTEN ",\"workers\":\"1\"}", "workers: expected a whole number", NULL},
    {"{" LISTEN ",\"audit\":\"-\"}", "audit: expected an object", NULL},
    {"{" LISTEN ",\"audit\":{\"path\":\"/x\"}}", "audit: unknown key \"path\"", NULL},
    {"{" LISTEN ",\"audit\":{\"file\":\"x\"}}",
     "audit.file: expected an absolute path, or \"-\"", NULL},
    {"{" LISTEN ",\"audit\":{\"file\":\"\"}}", "audit.file: expected", NULL},
    {"{" LISTEN ",\"audit\":{\"onFull\":\"drop\"}}",
     "audit.onFull: expected \"refuse\" or \"count\"", NULL},
    {"{" LISTEN ",\"audit\":{\"queueBytes\":65536}}", NULL, NULL},
    {"{" LISTEN ",\"audit\":{\"queueBytes\":1000}}",
     "audit.queueBytes: expected a whole number from 65536 to 1073741824", NULL},
    {"{" LISTEN ",\"audit\":{\"queueBytes\":65536.5}}", "audit.queueBytes: expected",
     NULL},
    {"{" LISTEN ",\"audit\":{\"queueBytes\":\"1\"}}", "audit.queueBytes: expected",
     NULL},
    {"{" LISTEN ",\"audit\":{\"onFull\":null}}", "audit.onFull: expected", NULL},
    {"{" LISTEN ",\"limits\":[]}", "limits: expected an object", NULL},
    {"{" LISTEN ",\"limits\":{\"conections\":1}}",
     "limits: unknown key \"conections\" (did you mean \"connections\"?)", NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":0}}",
     "limits.connections: expected a whole number from 1 to 1000000", NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":1.5}}", "limits.connections: expected",
     NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":-1}}", "limits.connections: expected",
     NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":\"7\"}}", "limits.connections: expected",
     NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":1e300}}", "limits.connections: expected",
     NULL},
    {"{" LISTEN ",\"limits\":{\"headBytes\":1}}",
     "limits.headBytes: expected a whole number from 1024 to 1048576", NULL},
    {"{" LISTEN ",\"limits\":{\"idleSeconds\":0}}",
     "limits.idleSeconds: expected a number of seconds from 0.1 to 2592000", NULL},
    {"{" LISTEN ",\"limits\":{\"idleSeconds\":null}}", "limits.idleSeconds: expected",
     NULL},
    {"{" LISTEN ",\"resolver\":{\"servers\":[]}}", "resolver.servers: expected a list",
     NULL},
    {"{" LISTEN ",\"resolver\":{\"servers\":[\"dns.test\"]}}",
     "resolver.servers[0]: \"dns.test\": expected an IP address", NULL},
    {"{" LISTEN ",\"resolver\":{\"servers\":[\"192.0.2.1:0\"]}}",
     "resolver.servers[0]: \"192.0.2.1:0\"", NULL},
    {"{" LISTEN ",\"resolver\":{\"server\":[]}}", "did you mean \"servers\"?", NULL},
    {"{" LISTEN ",\"resolver\":{\"hostsFile\":\"hosts\"}}",
     "resolver.hostsFile: expected an absolute path", NULL},
};

static void test_gateway(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof gateway_rows / sizeof *gateway_rows; i++) {
        struct gateway_settings s = {0};
        struct warned w = {.count = 0};
        struct err e = {""};
        bool ok;

        write_text(file, gateway_rows[i].text);
        ok = gateway_settings_load(file, on_warn, &w, &s, &e);
        check_row(&gateway_rows[i], ok, &e, &w);
        assert_int_equal(ok, s.doc != NULL && strcmp(s.path, file) == 0);
        gateway_settings_done(&s);
    }
}

static void test_gateway_values(void **state)
{
    struct gateway_settings s;
    struct err e;

    (void)state;
    write_text(file, "{" LISTEN ",\"network\":{\"mode\":\"report\"},"
                     "\"audit\":{\"file\":\"/x\",\"onFull\":\"count\"},"
                     "\"limits\":{\"connections\":7,\"idleSeconds\":2.5},"
                     "\"resolver\":{\"servers\":[\"192.0.2.1:5353\"],"
                     "\"hostsFile\":\"/h\"}}");
    assert_true(gateway_settings_load(file, NULL, NULL, &s, &e));
    assert_string_equal(s.listen[0].text, "127.0.0.1:3128");
    assert_int_equal(s.listen_count, 1);
    assert_int_equal(s.client_count, 0);
    assert_non_null(json_get(s.network, "mode"));
    assert_string_equal(s.audit.file, "/x");
    assert_int_equal(s.audit.fd, -1);
    assert_int_equal(s.audit.on_full, AUDIT_COUNT);
    assert_int_equal(s.limits.connections, 7);
    assert_int_equal(s.limits.connections_per_client, 1000);
    assert_true(s.limits.idle_seconds == 2.5);
    assert_string_equal(s.resolver_servers[0], "192.0.2.1:5353");
    assert_null(s.resolver_servers[1]);
    assert_string_equal(s.resolver_hosts, "/h");
    gateway_settings_done(&s);

    write_text(file, "{" LISTEN "}");
    assert_true(gateway_settings_load(file, NULL, NULL, &s, &e));
    assert_null(s.network);
    assert_string_equal(s.audit.file, "-");
    assert_int_equal(s.audit.on_full, AUDIT_REFUSE);
    assert_memory_equal(&s.limits, &limits_default, sizeof s.limits);
    assert_null(s.resolver_servers);
    assert_null(s.resolver_hosts);
    gateway_settings_done(&s);
}

static int make_folder(void **state)
{
    (void)state;
    return open_folder() ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(file);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gateway),
        cmocka_unit_test(test_gateway_values),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
