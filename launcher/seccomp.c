#include "launcher/seccomp.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

bool seccomp_install(struct err *e)
{
    /* The kernel only reads it. */
    struct sock_fprog prog = {seccomp_code_len, (struct sock_filter *)seccomp_code};

    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) != 0)
        return err_sys(e, "cannot install the seccomp filter");
    return true;
}
