#include <stdio.h>

#include "launcher/env.h"
#include "launcher/plan.h"
#include "launcher/seccomp.h"

static const char *mount_word(const struct access_mount *m)
{
    if (m->empty)
        return "empty";
    if (m->pin)
        return "in place";
    switch (m->access) {
    case ACCESS_WRITE:
        return "writable";
    case ACCESS_READ:
        return "read-only";
    case ACCESS_NONE:
        break;
    }
    return "hidden";
}

static void print_change(void *owner, const char *name, const char *value,
                         const char *why)
{
    if (value != NULL)
        fprintf(owner, "  set        %s=%s  (%s)\n", name, value, why);
    else
        fprintf(owner, "  taken out  %s  (%s)\n", name, why);
}

static void print_word(FILE *out, const char *word)
{
    fputs(" '", out);
    for (; *word != '\0'; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

void plan_print(const struct plan *p, FILE *out)
{
    fputs("command:", out);
    for (char *const *word = p->argv; *word != NULL; word++)
        print_word(out, *word);
    fprintf(out, "\nfolder: %s\n\nfiles:\n", p->cwd);
    fprintf(out, "  %-9s  /  (default)\n",
            p->access.root == ACCESS_WRITE ? "writable" : "read-only");
    for (size_t i = 0; i < p->access.mount_count; i++)
        fprintf(out, "  %-9s  %s  (%s)\n", mount_word(&p->access.mounts[i]),
                p->access.mounts[i].path, p->access.mounts[i].source);
    fprintf(out,
            "  its own    /proc, /dev; /sys read-only\n"
            "  writable   %s  (private, gone at the end)\n\nenvironment:\n",
            SANDBOX_TMPDIR);
    env_changes(p->environment, print_change, out);
    fputs("\nsystem calls:\n", out);
    seccomp_print(out);
}
