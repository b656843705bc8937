/* Texts of a settings file, each with what is said when it is loaded. */
#ifndef TEST_SETTINGS_ROWS_H
#define TEST_SETTINGS_ROWS_H

#include "proxy/policy/policy.h"

struct row {
    const char *text;
    const char *says; /* a part of the error; NULL: loads */
    const char *warns;
};

static char folder[] = "/tmp/weir-settings-XXXXXX";
static char file[64];

static inline bool open_folder(void)
{
    bool ok = mkdtemp(folder) != NULL;

    snprintf(file, sizeof file, "%s/file.json", folder);
    return ok;
}

static inline void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

struct warned {
    char text[1024];
    unsigned count;
};

static inline void on_warn(void *owner, const char *text)
{
    struct warned *w = owner;

    snprintf(w->text, sizeof w->text, "%s", text);
    w->count++;
}

static inline void check_row(const struct row *row, bool ok, const struct err *e,
                             const struct warned *w)
{
    if (ok != (row->says == NULL))
        fail_msg("%s: %s", row->text, ok ? "loads" : e->text);
    if (!ok && (strstr(e->text, file) != e->text || strstr(e->text, row->says) == NULL))
        fail_msg("%s: said \"%s\", expected \"%s\"", row->text, e->text, row->says);
    assert_int_equal(w->count, row->warns != NULL);
    if (row->warns != NULL &&
        (strstr(w->text, file) != w->text || strstr(w->text, row->warns) == NULL))
        fail_msg("%s: warned \"%s\"", row->text, w->text);
}

#endif
