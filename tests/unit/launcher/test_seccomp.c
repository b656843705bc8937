/* The program is run by a small machine of our own, as the kernel would run it: every
 * argument that could be is tried, and with it the same number with other high bits, of
 * which the kernel sees nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "launcher/seccomp.h"
#include "launcher/seccomp_rules.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

static const uint64_t high_bits[] = {0, 1ull << 32, 0xffffffffull << 32};
#define HIGH_COUNT (sizeof high_bits / sizeof *high_bits)

static uint32_t load(const struct seccomp_data *data, uint32_t offset)
{
    uint32_t word;

    assert_true(offset + sizeof word <= sizeof *data);
    memcpy(&word, (const char *)data + offset, sizeof word);
    return word;
}

/* The instructions that the kernel takes and libseccomp uses. */
static uint32_t judge(const struct seccomp_program *p, const struct seccomp_data *data)
{
    uint32_t a = 0;

    for (size_t at = 0; at < p->prog.len; at++) {
        const struct sock_filter *f = &p->prog.filter[at];

        switch (f->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            a = load(data, f->k);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= f->k;
            break;
        case BPF_JMP | BPF_JA:
            at += f->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += a == f->k ? f->jt : f->jf;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            at += a > f->k ? f->jt : f->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            at += a >= f->k ? f->jt : f->jf;
            break;
        case BPF_RET | BPF_K:
            return f->k;
        default:
            fail_msg("instruction %x at %zu", f->code, at);
        }
    }
    fail_msg("ran off the end");
    return 0;
}

static uint32_t ask(const struct seccomp_program *p, long nr, uint64_t a, uint64_t b,
                    uint64_t c)
{
    struct seccomp_data data = {
        .nr = (int)nr, .arch = ARCH, .args = {a, b, c, ~0ull, ~0ull, ~0ull}};

    return judge(p, &data);
}

static bool allows(const struct seccomp_program *p, long nr, uint64_t a, uint64_t b,
                   uint64_t c)
{
    return ask(p, nr, a, b, c) == SECCOMP_RET_ALLOW;
}

static int make(void **state)
{
    static struct seccomp_program program;

    program.prog.len = seccomp_code_len;
    program.prog.filter = (struct sock_filter *)seccomp_code;
    *state = &program;
    return 0;
}

/* What was written when this was built is what the tables say. */
static void test_is_that_of_the_tables(void **state)
{
    struct seccomp_program p;
    struct err e;

    (void)state;
    assert_true(seccomp_build(&p, &e));
    assert_int_equal(p.prog.len, seccomp_code_len);
    assert_memory_equal(p.prog.filter, seccomp_code,
                        p.prog.len * sizeof *p.prog.filter);
    seccomp_done(&p);
}

static bool is_good_socket(unsigned family, unsigned type, unsigned protocol)
{
    unsigned kind = type & 0xf;

    if (family == AF_NETLINK)
        return (kind == SOCK_RAW || kind == SOCK_DGRAM || kind == SOCK_STREAM) &&
               protocol == 0;
    if (family != AF_INET && family != AF_INET6)
        return false;
    return (kind == SOCK_STREAM || kind == SOCK_DGRAM) &&
           (protocol == 0 || protocol == 6 || protocol == 17);
}

static void test_socket(void **state)
{
    static const unsigned flags[] = {0, SOCK_NONBLOCK | SOCK_CLOEXEC};

    for (unsigned family = 0; family < 64; family++)
        for (unsigned kind = 0; kind < 16; kind++)
            for (unsigned protocol = 0; protocol < 300;
                 protocol += protocol < 20 ? 1 : 2)
                for (unsigned f = 0; f < 2; f++)
                    if (allows(*state, SYS_socket, family, kind | flags[f], protocol) !=
                        is_good_socket(family, kind, protocol))
                        fail_msg("socket(%u, %u, %u)", family, kind, protocol);
}

/* What is bad stays bad, whatever stands where the kernel does not look. */
static void test_high_bits(void **state)
{
    static const unsigned protocols[] = {0, 1, 6, 16, 17, 18, 132, 136, 255, 262};

    for (unsigned n = 0; n < HIGH_COUNT * HIGH_COUNT * HIGH_COUNT; n++) {
        uint64_t a = high_bits[n % HIGH_COUNT];
        uint64_t b = high_bits[n / HIGH_COUNT % HIGH_COUNT];
        uint64_t c = high_bits[n / HIGH_COUNT / HIGH_COUNT];

        for (unsigned family = 0; family < 48; family++)
            for (unsigned kind = 0; kind < 8; kind++)
                for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
                    if (!is_good_socket(family, kind, protocols[i]) &&
                        allows(*state, SYS_socket, a | family, b | kind,
                               c | protocols[i]))
                        fail_msg("socket(%u, %u, %u) with high bits", family, kind,
                                 protocols[i]);
        assert_false(allows(*state, SYS_ioctl, a, b | TIOCSTI, c));
        assert_false(allows(*state, SYS_ioctl, a, b | TIOCLINUX, c));
        assert_false(allows(*state, SYS_ioctl, a, b | TIOCSETD, c));
        assert_false(allows(*state, SYS_unshare, a | CLONE_NEWUSER, b, c));
        assert_false(allows(*state, SYS_clone, a | CLONE_NEWNS | 17, b, c));
        assert_false(allows(*state, SYS_socketpair, a | AF_UNIX, b | SOCK_DGRAM, c));
        assert_true(allows(*state, SYS_ioctl, a, b | TIOCGWINSZ, c));
    }
}

static void test_socketpair(void **state)
{
    for (unsigned family = 0; family < 64; family++)
        for (unsigned kind = 0; kind < 16; kind++)
            assert_int_equal(
                allows(*state, SYS_socketpair, family, kind | SOCK_CLOEXEC, 0),
                family == AF_UNIX && kind == SOCK_STREAM);
}

static void test_clone(void **state)
{
    static const unsigned long bad = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                     CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                     CLONE_NEWNET;

    for (unsigned bit = 8; bit < 32; bit++) {
        unsigned long flag = 1ul << bit;

        assert_int_equal(allows(*state, SYS_clone, flag | 17, 0, 0), (flag & bad) == 0);
        assert_int_equal(allows(*state, SYS_unshare, flag, 0, 0), (flag & bad) == 0);
    }
    assert_false(allows(*state, SYS_unshare, 0x80, 0, 0)); /* CLONE_NEWTIME */
    /* As libc makes a thread, and a process. */
    assert_true(allows(*state, SYS_clone, 0x3d0f00, 0, 0));
    assert_true(allows(*state, SYS_clone, 0x1200011, 0, 0));
    assert_int_equal(ask(*state, SYS_clone3, 0, 88, 0), SECCOMP_RET_ERRNO | ENOSYS);
}

static void test_whole_calls(void **state)
{
    static const struct {
        long nr;
        int error; /* 0: allowed */
    } calls[] = {
        {SYS_read, 0},
        {SYS_ptrace, 0},
        {SYS_execve, 0},
        {SYS_openat, 0},
        {SYS_kill, 0},
        {425, ENOSYS},
        {426, ENOSYS},
        {427, ENOSYS},
        {SYS_setns, EPERM},
        {SYS_mount, EPERM},
        {SYS_umount2, EPERM},
        {SYS_pivot_root, EPERM},
        {SYS_chroot, EPERM},
        {428, EPERM},
        {429, EPERM},
        {430, EPERM},
        {431, EPERM},
        {432, EPERM},
        {433, EPERM},
        {442, EPERM},
        {467, EPERM},
        {SYS_keyctl, EPERM},
        {SYS_add_key, EPERM},
        {SYS_request_key, EPERM},
        {SYS_bpf, EPERM},
        {SYS_perf_event_open, EPERM},
        {438, EPERM},
        {SYS_open_by_handle_at, EPERM},
        {SYS_reboot, EPERM},
        {SYS_swapon, EPERM},
        {SYS_quotactl, EPERM},
        {SYS_kexec_load, EPERM},
        {SYS_syslog, EPERM},
        {SYS_userfaultfd, EPERM},
        {470, ENOSYS},
        {1000, ENOSYS},
        {0x3fffffff, ENOSYS},
        {444, 0}, /* Landlock: only ever takes away */
        {SYS_name_to_handle_at, 0},
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        uint32_t wanted = calls[i].error == 0
                              ? SECCOMP_RET_ALLOW
                              : SECCOMP_RET_ERRNO | (uint32_t)calls[i].error;

        if (ask(*state, calls[i].nr, 1, 2, 3) != wanted)
            fail_msg("call %ld", calls[i].nr);
    }
}

static void test_other_entries(void **state)
{
    static const uint32_t others[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_PPC64,
                                      AUDIT_ARCH_RISCV64, 0};
    struct seccomp_data data = {.arch = ARCH};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct seccomp_data other = {.nr = SYS_read, .arch = others[i]};

        assert_int_equal(judge(*state, &other), SECCOMP_RET_KILL_PROCESS);
    }
#if defined(__x86_64__)
    for (int nr = 0; nr < 1000; nr++) {
        data.nr = 0x40000000 | nr; /* x32 */
        assert_int_equal(judge(*state, &data), SECCOMP_RET_KILL_PROCESS);
    }
#else
    (void)data;
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_socket),
        cmocka_unit_test(test_high_bits),
        cmocka_unit_test(test_socketpair),
        cmocka_unit_test(test_clone),
        cmocka_unit_test(test_is_that_of_the_tables),
        cmocka_unit_test(test_whole_calls),
        cmocka_unit_test(test_other_entries),
    };

    return cmocka_run_group_tests(tests, make, NULL);
}
