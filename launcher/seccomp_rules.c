#include "launcher/seccomp_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proxy/base/fd.h"

/* Calls from this number on are newer than this file (Linux 6.18 has up to 469; these
 * numbers are the same on all architectures). The number of an x32 call is far above.
 */
enum { FIRST_UNKNOWN = 470, X32_BIT = 0x40000000 };

/* Of libseccomp: the level that knows SCMP_ACT_KILL_PROCESS (Linux 4.14). */
enum { API_LEVEL = 3 };

/* Newer than the libseccomp of Debian 12 has names for. */
enum { NR_fchmodat2 = 452, NR_open_tree_attr = 467 };

/* clone() has the signal of the child in these bits, so CLONE_NEWTIME is no flag there.
 */
#define NEW_TIME 0x00000080u
/* The arguments are 64-bit registers, but the kernel reads these as 32-bit numbers. */
#define LOW 0xffffffffu
/* Of ioprio_set(2); <linux/ioprio.h> has it, but not before Linux 5.15. */
#define IOPRIO_PGRP 2u
/* What O_TMPFILE is beside O_DIRECTORY, which has other numbers elsewhere. */
#define NAMELESS (O_TMPFILE & ~O_DIRECTORY)

/* Refused whole. */
static const struct closed {
    int call;
    int error;
    const char *name, *why;
} closed[] = {
#define CLOSED(name, error, why)          \
    {                                     \
        SCMP_SYS(name), error, #name, why \
    }
    CLOSED(io_uring_setup, ENOSYS, "does other calls unseen by any filter"),
    CLOSED(io_uring_enter, ENOSYS, "the same"),
    CLOSED(io_uring_register, ENOSYS, "the same"),
    CLOSED(clone3, ENOSYS, "its flags are out of a filter's sight; libc uses clone()"),
    CLOSED(setns, EPERM, "enters other namespaces"),
    CLOSED(mount, EPERM, "changes the file tree"),
    CLOSED(umount2, EPERM, "the same"),
    CLOSED(pivot_root, EPERM, "the same"),
    CLOSED(chroot, EPERM, "the same"),
    CLOSED(open_tree, EPERM, "the same"),
    {NR_open_tree_attr, EPERM, "open_tree_attr", "the same"},
    CLOSED(move_mount, EPERM, "the same"),
    CLOSED(fsopen, EPERM, "the same"),
    CLOSED(fsconfig, EPERM, "the same"),
    CLOSED(fsmount, EPERM, "the same"),
    CLOSED(fspick, EPERM, "the same"),
    CLOSED(mount_setattr, EPERM, "the same"),
    CLOSED(open_by_handle_at, EPERM, "opens files without a path"),
    CLOSED(keyctl, EPERM, "keys are the user's, not the sandbox's"),
    CLOSED(add_key, EPERM, "the same"),
    CLOSED(request_key, EPERM, "the same"),
    CLOSED(openat2, ENOSYS, "the modes of new files are out of a filter's sight"),
    CLOSED(bpf, EPERM, "runs programs in the kernel"),
    CLOSED(perf_event_open, EPERM, "watches the kernel and others"),
    CLOSED(userfaultfd, EPERM, "stops the kernel in the middle of a call"),
    CLOSED(fanotify_init, EPERM, "watches whole file systems"),
    CLOSED(pidfd_getfd, EPERM, "takes descriptors of other processes"),
    CLOSED(kcmp, EPERM, "tells of the kernel's memory"),
    CLOSED(lookup_dcookie, EPERM, "the same"),
    CLOSED(kexec_load, EPERM, "replaces the kernel"),
    CLOSED(kexec_file_load, EPERM, "the same"),
    CLOSED(init_module, EPERM, "loads code into the kernel"),
    CLOSED(finit_module, EPERM, "the same"),
    CLOSED(delete_module, EPERM, "the same"),
    CLOSED(create_module, EPERM, "the same"),
    CLOSED(iopl, EPERM, "reaches devices"),
    CLOSED(ioperm, EPERM, "the same"),
    CLOSED(swapon, EPERM, "is for administrators"),
    CLOSED(swapoff, EPERM, "the same"),
    CLOSED(reboot, EPERM, "the same"),
    CLOSED(quotactl, EPERM, "the same"),
    CLOSED(quotactl_fd, EPERM, "the same"),
    CLOSED(acct, EPERM, "the same"),
    CLOSED(nfsservctl, EPERM, "the same"),
    CLOSED(settimeofday, EPERM, "the same"),
    CLOSED(clock_settime, EPERM, "the same"),
    CLOSED(sethostname, EPERM, "the same"),
    CLOSED(setdomainname, EPERM, "the same"),
    CLOSED(vhangup, EPERM, "the same"),
    CLOSED(uselib, EPERM, "is obsolete"),
    CLOSED(ustat, EPERM, "the same"),
    CLOSED(sysfs, EPERM, "the same"),
    CLOSED(_sysctl, EPERM, "the same"),
    CLOSED(syslog, EPERM, "reads the kernel's log"),
#undef CLOSED
};

/* Refused when every argument named is as said: (value & mask) == match, or the
 * operation itself where the mask is 0. */
struct when {
    int arg; /* -1: none */
    enum scmp_compare op;
    scmp_datum_t mask, match;
};
static const struct partial {
    int call;
    int error;
    struct when first, second;
} partials[] = {
#define BITS(arg, mask, match)               \
    {                                        \
        arg, SCMP_CMP_MASKED_EQ, mask, match \
    }
#define NONE                  \
    {                         \
        -1, SCMP_CMP_EQ, 0, 0 \
    }
    /* Families but INET, INET6 and NETLINK: below, between and above. */
    {SCMP_SYS(socket), EAFNOSUPPORT, {0, SCMP_CMP_LT, AF_INET, 0}, NONE},
    {SCMP_SYS(socket), EAFNOSUPPORT, {0, SCMP_CMP_GT, AF_NETLINK, 0}, NONE},
#define FAMILY(n)                                                    \
    {                                                                \
        SCMP_SYS(socket), EAFNOSUPPORT, {0, SCMP_CMP_EQ, n, 0}, NONE \
    }
    FAMILY(3),
    FAMILY(4),
    FAMILY(5),
    FAMILY(6),
    FAMILY(7),
    FAMILY(8),
    FAMILY(9),
    FAMILY(11),
    FAMILY(12),
    FAMILY(13),
    FAMILY(14),
    FAMILY(15),
#undef FAMILY
    /* Types but stream (1) and datagram (2); of netlink, raw (3) means datagram. */
    {SCMP_SYS(socket), EPERM, BITS(1, 0xf, 0), NONE},
    {SCMP_SYS(socket), EPERM, BITS(1, 0x4, 0x4), NONE},
    {SCMP_SYS(socket), EPERM, BITS(1, 0x8, 0x8), NONE},
    {SCMP_SYS(socket), EPERM, BITS(0, LOW, AF_INET), BITS(1, 0xf, SOCK_RAW)},
    {SCMP_SYS(socket), EPERM, BITS(0, LOW, AF_INET6), BITS(1, 0xf, SOCK_RAW)},
    /* Protocols but 0, TCP (6) and UDP (17); netlink has only NETLINK_ROUTE (0). */
    {SCMP_SYS(socket), EPROTONOSUPPORT, {2, SCMP_CMP_GT, IPPROTO_UDP, 0}, NONE},
    {SCMP_SYS(socket),
     EPROTONOSUPPORT,
     BITS(0, LOW, AF_NETLINK),
     {2, SCMP_CMP_NE, NETLINK_ROUTE, 0}},
#define PROTOCOL(n)                                                     \
    {                                                                   \
        SCMP_SYS(socket), EPROTONOSUPPORT, {2, SCMP_CMP_EQ, n, 0}, NONE \
    }
    PROTOCOL(1),
    PROTOCOL(2),
    PROTOCOL(3),
    PROTOCOL(4),
    PROTOCOL(5),
    PROTOCOL(7),
    PROTOCOL(8),
    PROTOCOL(9),
    PROTOCOL(10),
    PROTOCOL(11),
    PROTOCOL(12),
    PROTOCOL(13),
    PROTOCOL(14),
    PROTOCOL(15),
    PROTOCOL(16),
#undef PROTOCOL
    /* A pair is AF_UNIX and stream: a datagram one could send to any path. */
    {SCMP_SYS(socketpair), EAFNOSUPPORT, {0, SCMP_CMP_NE, AF_UNIX, 0}, NONE},
    {SCMP_SYS(socketpair), EPERM, BITS(1, 0xf, 0), NONE},
    {SCMP_SYS(socketpair), EPERM, BITS(1, 0x2, 0x2), NONE},
    {SCMP_SYS(socketpair), EPERM, BITS(1, 0x4, 0x4), NONE},
    {SCMP_SYS(socketpair), EPERM, BITS(1, 0x8, 0x8), NONE},
/* Namespaces. */
#define NEW(flag)                                           \
    {SCMP_SYS(clone), EPERM, BITS(0, flag, flag), NONE},    \
    {                                                       \
        SCMP_SYS(unshare), EPERM, BITS(0, flag, flag), NONE \
    }
    NEW(CLONE_NEWNS),
    NEW(CLONE_NEWCGROUP),
    NEW(CLONE_NEWUTS),
    NEW(CLONE_NEWIPC),
    NEW(CLONE_NEWUSER),
    NEW(CLONE_NEWPID),
    NEW(CLONE_NEWNET),
    {SCMP_SYS(unshare), EPERM, BITS(0, NEW_TIME, NEW_TIME), NONE},
#undef NEW
    /* Typing on the terminal in the user's name, and taking it over. */
    {SCMP_SYS(ioctl), EPERM, BITS(1, LOW, TIOCSTI), NONE},
    {SCMP_SYS(ioctl), EPERM, BITS(1, LOW, TIOCLINUX), NONE},
    {SCMP_SYS(ioctl), EPERM, BITS(1, LOW, TIOCSETD), NONE},
    {SCMP_SYS(ioctl), EPERM, BITS(1, LOW, TIOCCONS), NONE},
    {SCMP_SYS(ioctl), EPERM, BITS(1, LOW, TIOCEXCL), NONE},
    /* Set-user-ID files: whoever ran one outside would be the user, or root. In the
     * sandbox they are of no use. */
    {SCMP_SYS(chmod), EPERM, BITS(1, S_ISUID, S_ISUID), NONE},
    {SCMP_SYS(fchmod), EPERM, BITS(1, S_ISUID, S_ISUID), NONE},
    {SCMP_SYS(fchmodat), EPERM, BITS(2, S_ISUID, S_ISUID), NONE},
    {NR_fchmodat2, EPERM, BITS(2, S_ISUID, S_ISUID), NONE},
    {SCMP_SYS(creat), EPERM, BITS(1, S_ISUID, S_ISUID), NONE},
    {SCMP_SYS(mknod), EPERM, BITS(1, S_ISUID, S_ISUID), NONE},
    {SCMP_SYS(mknodat), EPERM, BITS(2, S_ISUID, S_ISUID), NONE},
    {SCMP_SYS(open), EPERM, BITS(1, O_CREAT, O_CREAT), BITS(2, S_ISUID, S_ISUID)},
    {SCMP_SYS(open), EPERM, BITS(1, NAMELESS, NAMELESS), BITS(2, S_ISUID, S_ISUID)},
    {SCMP_SYS(openat), EPERM, BITS(2, O_CREAT, O_CREAT), BITS(3, S_ISUID, S_ISUID)},
    {SCMP_SYS(openat), EPERM, BITS(2, NAMELESS, NAMELESS), BITS(3, S_ISUID, S_ISUID)},
    /* The command's own process group is that of the caller when there is a terminal:
     * core, supervisor and the caller's script are in it. */
    {SCMP_SYS(setpriority), EPERM, BITS(0, LOW, PRIO_PGRP), BITS(1, LOW, 0)},
    {SCMP_SYS(ioprio_set), EPERM, BITS(0, LOW, IOPRIO_PGRP), BITS(1, LOW, 0)},
#undef BITS
#undef NONE
};
#define CLOSED_COUNT  (sizeof closed / sizeof *closed)
#define PARTIAL_COUNT (sizeof partials / sizeof *partials)

static struct scmp_arg_cmp compare(const struct when *w)
{
    return (struct scmp_arg_cmp){(unsigned)w->arg, w->op, w->mask, w->match};
}

static int add_partial(scmp_filter_ctx context, const struct partial *p)
{
    struct scmp_arg_cmp args[2];
    unsigned count = 1;

    args[0] = compare(&p->first);
    if (p->second.arg >= 0)
        args[count++] = compare(&p->second);
    return seccomp_rule_add_array(context, SCMP_ACT_ERRNO((unsigned)p->error), p->call,
                                  count, args);
}

static bool add_rules(scmp_filter_ctx context, struct err *e)
{
    int failed =
        seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

    for (size_t i = 0; i < CLOSED_COUNT && failed == 0; i++)
        failed = seccomp_rule_add(context, SCMP_ACT_ERRNO((unsigned)closed[i].error),
                                  closed[i].call, 0);
    for (size_t i = 0; i < PARTIAL_COUNT && failed == 0; i++)
        failed = add_partial(context, &partials[i]);
    if (failed == 0)
        return true;
    return err_set(e, "cannot build the seccomp filter: %s", strerror(-failed));
}

/* In front of libseccomp's program, which cannot compare numbers of calls: a call that
 * is unknown does not exist. x32 calls go on to be killed, as do foreign architectures.
 */
static const struct sock_filter head[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_UNKNOWN, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
};

/* libseccomp writes the program to a descriptor only. */
static bool read_program(scmp_filter_ctx context, struct seccomp_program *out)
{
    autofd int fd = memfd_create("filter", MFD_CLOEXEC);
    off_t size;
    char *bytes;

    if (fd < 0 || seccomp_export_bpf(context, fd) != 0)
        return false;
    size = lseek(fd, 0, SEEK_CUR);
    bytes = malloc(sizeof head + (size_t)size);
    if (bytes == NULL)
        abort();
    memcpy(bytes, head, sizeof head);
    out->prog.filter = (struct sock_filter *)bytes;
    out->prog.len =
        (unsigned short)((sizeof head + (size_t)size) / sizeof(struct sock_filter));
    return pread(fd, bytes + sizeof head, (size_t)size, 0) == size;
}

bool seccomp_build(struct seccomp_program *out, struct err *e)
{
    scmp_filter_ctx context;
    bool good;

    *out = (struct seccomp_program){0};
    /* Else libseccomp tries out what the kernel can do, by a handful of system calls.
     * All that is used here is older than the mount calls that the sandbox needs
     * anyway. */
    seccomp_api_set(API_LEVEL);
    context = seccomp_init(SCMP_ACT_ALLOW);
    if (context == NULL)
        return err_set(e, "cannot build the seccomp filter");
    good = add_rules(context, e);
    if (good && !read_program(context, out))
        good = err_sys(e, "cannot take the seccomp filter from libseccomp");
    seccomp_release(context);
    if (!good)
        seccomp_done(out);
    return good;
}

void seccomp_done(struct seccomp_program *p)
{
    free(p->prog.filter);
    *p = (struct seccomp_program){0};
}

void seccomp_print(FILE *out)
{
    fputs(
        "  killed     calls of other architectures, and x32\n"
        "  sockets    stream and datagram of INET and INET6 (TCP, UDP), "
        "NETLINK_ROUTE,\n"
        "             pairs of AF_UNIX stream; no other\n"
        "  refused    clone and unshare with a new namespace; ioctl TIOCSTI, "
        "TIOCLINUX,\n"
        "             TIOCSETD, TIOCCONS; setpriority and ioprio_set of the own group\n"
        "             as a whole; TIOCEXCL; modes with the set-user-ID bit; calls that "
        "are\n"
        "             newer than this program\n",
        out);
    for (size_t i = 0; i < CLOSED_COUNT; i++)
        fprintf(out, "  refused    %s  (%s)\n", closed[i].name, closed[i].why);
}
