/* Gateway files in a folder of the test's own, and token files beside them. */
#ifndef TEST_CONFIG_FILE_H
#define TEST_CONFIG_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proxy/gateway_config.h"

static char config_folder[] = "/tmp/weir-config-XXXXXX";

static inline void config_path(char path[96], const char *name)
{
    snprintf(path, 96, "%s/%s", config_folder, name);
}

static inline void config_write(const char *name, const char *text)
{
    char path[96];
    FILE *f;

    config_path(path, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, 0600), 0);
}

/* A config of what stands between the braces beside `listen`. */
static inline struct config *config_from(const char *keys)
{
    char path[96], text[2048];
    struct config *c = NULL;
    struct err e;

    snprintf(text, sizeof text, "{\"listen\": [\"127.0.0.1:0\", \"unix:/a\"], %s}",
             keys);
    config_write("gateway.json", text);
    config_path(path, "gateway.json");
    if (!config_load(path, NULL, NULL, &c, &e))
        fail_msg("%s", e.text);
    return c;
}

static inline int config_folder_make(void **state)
{
    (void)state;
    return mkdtemp(config_folder) != NULL ? 0 : -1;
}

static inline int config_folder_remove(void **state)
{
    static const char *const names[] = {"gateway.json", "a.token", "b.token"};
    char path[96];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        config_path(path, names[i]);
        unlink(path);
    }
    return rmdir(config_folder);
}

#endif
