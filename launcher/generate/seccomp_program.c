/* Runs while Weir is built, on the kind of machine that it is built for: writes what
 * libseccomp makes of the tables in seccomp_rules.c, as C, to the file that is named.
 */
#include <stdio.h>

#include "launcher/seccomp_rules.h"

int main(int argc, char **argv)
{
    struct seccomp_program p;
    struct err e;

    if (argc != 2 || !seccomp_build(&p, &e) || freopen(argv[1], "w", stdout) == NULL) {
        fprintf(stderr, "seccomp_program: cannot make the table\n");
        return 1;
    }
    printf("#include \"launcher/seccomp.h\"\n\n"
           "const unsigned short seccomp_code_len = %u;\n"
           "const struct sock_filter seccomp_code[] = {\n",
           p.prog.len);
    for (size_t i = 0; i < p.prog.len; i++) {
        const struct sock_filter *f = &p.prog.filter[i];

        printf("    {0x%x, %u, %u, 0x%x},\n", f->code, f->jt, f->jf, f->k);
    }
    printf("};\n");
    seccomp_done(&p);
    return fflush(stdout) == 0 ? 0 : 1;
}
