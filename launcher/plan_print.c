#include <stdio.h>
#include <string.h>

#include "launcher/env.h"
#include "launcher/plan.h"
#include "launcher/seccomp_rules.h"
#include "proxy/base/shown.h"

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
        shown_printf(owner, "  set        %s=%s  (%s)", name, value, why);
    else
        shown_printf(owner, "  taken out  %s  (%s)", name, why);
    fputc('\n', owner);
}

static void print_word(FILE *out, const char *word)
{
    fputs(" '", out);
    for (const char *quote; (quote = strchr(word, '\'')) != NULL; word = quote + 1)
        shown_printf(out, "%.*s'\\''", (int)(quote - word), word);
    shown_printf(out, "%s'", word);
}

/* They cannot be kept, but what is made of them is told at the end. */
static void print_absent(const struct plan *p, FILE *out)
{
    for (size_t i = 0; i < p->absent_count; i++) {
        shown_printf(out,
                     "  open       %s/%s  (is not there; told if the command makes it)",
                     strcmp(p->cwd, "/") == 0 ? "" : p->cwd, p->absent[i]);
        fputc('\n', out);
    }
}

static void print_files(const struct plan *p, FILE *out)
{
    fprintf(out, "  %-9s  /  (default)\n",
            p->access.root == ACCESS_WRITE ? "writable" : "read-only");
    for (size_t i = 0; i < p->access.mount_count; i++) {
        const struct access_mount *m = &p->access.mounts[i];

        shown_printf(out, "  %-9s  %s  (%s)", mount_word(m), m->path, m->source);
        fputc('\n', out);
    }
    fprintf(out,
            "  its own    /proc, /dev; /sys read-only\n"
            "  writable   %s  (private, gone at the end)\n",
            SANDBOX_TMPDIR);
    print_absent(p, out);
}

void plan_print(const struct plan *p, FILE *out)
{
    fputs("command:", out);
    for (char *const *word = p->argv; *word != NULL; word++)
        print_word(out, *word);
    fputc('\n', out);
    shown_printf(out, "folder: %s", p->cwd);
    fputs("\n\nfiles:\n", out);
    print_files(p, out);
    fputs("\nenvironment:\n", out);
    env_changes(p->environment, print_change, out);
    fputs("\nsystem calls:\n", out);
    seccomp_print(out);
}
