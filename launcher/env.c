#include "launcher/env.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PROXY    "http://" SANDBOX_PROXY_HOST ":" SANDBOX_PROXY_PORT
#define LOOPBACK "localhost,127.0.0.1,::1"
#define JAVA                                                                          \
    "-Dhttp.proxyHost=" SANDBOX_PROXY_HOST " -Dhttp.proxyPort=" SANDBOX_PROXY_PORT    \
    " -Dhttps.proxyHost=" SANDBOX_PROXY_HOST " -Dhttps.proxyPort=" SANDBOX_PROXY_PORT \
    " -Dhttp.nonProxyHosts=localhost|127.0.0.1|[::1]"                                 \
    " -Djava.io.tmpdir=" SANDBOX_TMPDIR

/* Taken away. A name that ends in "*" stands for all that begin so, in any case. */
static const struct scrub {
    const char *name, *why;
} scrubs[] = {
    {"LD_*", "the dynamic linker loads libraries that it names"},
    {"DYLD_*", "as LD_*, on macOS"},
    {"GCONV_PATH", "iconv loads modules from there"},
    {"GLIBC_TUNABLES", "changes how libc checks memory"},
    {"LOCPATH", "libc reads locale files from there"},
    {"BASH_ENV", "bash runs it before every script"},
    {"ENV", "sh runs it at start"},
    {"SHELLOPTS", "turns on tracing in bash, which runs PS4"},
    {"BASHOPTS", "as SHELLOPTS"},
    {"PS4", "bash expands it, commands in it too, when tracing"},
    {"PROMPT_COMMAND", "bash runs it before each prompt"},
    {"BASH_FUNC_*", "bash takes a function from it, in place of a command"},
    {"ZDOTDIR", "zsh runs start-up files from there"},
    {"PERL5OPT", "perl loads modules that it names"},
    {"PERL5DB", "perl runs it under the debugger"},
    {"PERL_MM_OPT", "options of module builds"},
    {"RUBYOPT", "ruby loads files that it names"},
    {"PYTHONSTARTUP", "python runs it at an interactive start"},
    {"PYTHONHOME", "python takes its library from there"},
    {"PYTHONINSPECT", "python reads commands after the script"},
    {"OPENSSL_ENGINES", "OpenSSL loads libraries from there"},
    {"OPENSSL_MODULES", "as OPENSSL_ENGINES"},
    {"OPENSSL_CONF", "may name libraries to load"},
    {"GIT_SSH", "git runs it"},
    {"GIT_SSH_COMMAND", "git runs it"},
    {"GIT_PROXY_COMMAND", "git runs it"},
    {"GIT_EXEC_PATH", "git takes its own programs from there"},
    {"GIT_TEMPLATE_DIR", "git copies hooks from there"},
    {"WSL_INTEROP", "starts programs outside of every sandbox"},
    {"npm_config_proxy", "leads npm past the sandbox's proxy"},
    {"npm_config_http_proxy", "as npm_config_proxy"},
    {"npm_config_https_proxy", "as npm_config_proxy"},
    {"npm_config_noproxy", "as npm_config_proxy"},
    {"PIP_PROXY", "leads pip past the sandbox's proxy"},
    {"*_PROXY", "is set anew below, or leads past the sandbox's proxy"},
    {"CLOUDSDK_PROXY_*", "is set anew below"},
};

enum set_mode {
    SET_ALWAYS = 0,
    SET_INHERITED, /* only when the caller has it */
    SET_APPEND,    /* behind the caller's own, and a blank */
};

static const struct setting {
    const char *name, *value;
    enum set_mode mode;
    const char *why;
} settings[] = {
    {"HTTP_PROXY", PROXY, SET_ALWAYS, "the proxy"},
    {"http_proxy", PROXY, SET_ALWAYS, "curl reads only this one for http"},
    {"HTTPS_PROXY", PROXY, SET_ALWAYS, "the proxy"},
    {"https_proxy", PROXY, SET_ALWAYS, "wget reads only this one"},
    {"ALL_PROXY", PROXY, SET_ALWAYS, "the proxy; by http, which every program speaks"},
    {"all_proxy", PROXY, SET_ALWAYS, "the same"},
    {"FTP_PROXY", PROXY, SET_ALWAYS, "the proxy"},
    {"ftp_proxy", PROXY, SET_ALWAYS, "the same"},
    {"GRPC_PROXY", PROXY, SET_ALWAYS, "the proxy"},
    {"grpc_proxy", PROXY, SET_ALWAYS, "gRPC reads this one first"},
    {"NO_PROXY", LOOPBACK, SET_ALWAYS, "what runs inside is reached directly"},
    {"no_proxy", LOOPBACK, SET_ALWAYS, "the same"},
    {"NODE_USE_ENV_PROXY", "1", SET_ALWAYS, "node heeds the variables above only so"},
    {"RSYNC_PROXY", SANDBOX_PROXY_HOST ":" SANDBOX_PROXY_PORT, SET_ALWAYS,
     "rsync wants it without a scheme"},
    {"DOCKER_HTTP_PROXY", PROXY, SET_ALWAYS, "for builds by docker"},
    {"DOCKER_HTTPS_PROXY", PROXY, SET_ALWAYS, "the same"},
    {"CLOUDSDK_PROXY_TYPE", "http", SET_ALWAYS, "gcloud has variables of its own"},
    {"CLOUDSDK_PROXY_ADDRESS", SANDBOX_PROXY_HOST, SET_ALWAYS, "the same"},
    {"CLOUDSDK_PROXY_PORT", SANDBOX_PROXY_PORT, SET_ALWAYS, "the same"},
    {"YARN_HTTP_PROXY", PROXY, SET_ALWAYS, "yarn 2 and later read only this one"},
    {"YARN_HTTPS_PROXY", PROXY, SET_ALWAYS, "the same"},
    {"JAVA_TOOL_OPTIONS", JAVA, SET_APPEND, "Java heeds properties, not variables"},
    {"TMPDIR", SANDBOX_TMPDIR, SET_ALWAYS, "private, and gone with the sandbox"},
    {"TMP", SANDBOX_TMPDIR, SET_INHERITED, "the same"},
    {"TEMP", SANDBOX_TMPDIR, SET_INHERITED, "the same"},
    {"TEMPDIR", SANDBOX_TMPDIR, SET_INHERITED, "the same"},
    {"SANDBOX_RUNTIME", "1", SET_ALWAYS, "lets programs know where they are"},
};
#define SCRUB_COUNT   (sizeof scrubs / sizeof *scrubs)
#define SETTING_COUNT (sizeof settings / sizeof *settings)

static size_t name_len(const char *entry)
{
    return strcspn(entry, "=");
}

static bool scrub_matches(const struct scrub *s, const char *entry)
{
    size_t len = name_len(entry), want = strlen(s->name);

    if (s->name[0] == '*')
        return len >= want - 1 &&
               strncasecmp(entry + len - (want - 1), s->name + 1, want - 1) == 0;
    if (s->name[want - 1] == '*')
        return len >= want - 1 && strncasecmp(entry, s->name, want - 1) == 0;
    return len == want && strncasecmp(entry, s->name, want) == 0;
}

static const struct scrub *find_scrub(const char *entry)
{
    for (size_t i = 0; i < SCRUB_COUNT; i++)
        if (scrub_matches(&scrubs[i], entry))
            return &scrubs[i];
    return NULL;
}

static const char *find_value(char *const *env, const char *name)
{
    size_t len = strlen(name);

    for (; *env != NULL; env++)
        if (name_len(*env) == len && strncmp(*env, name, len) == 0 &&
            (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

static bool is_set_anew(const char *entry)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (strlen(settings[i].name) == name_len(entry) &&
            strncmp(settings[i].name, entry, name_len(entry)) == 0)
            return true;
    return false;
}

static char *make_entry(const struct setting *s, const char *old)
{
    char *entry;
    bool append = s->mode == SET_APPEND && old != NULL && old[0] != '\0';

    if (asprintf(&entry, "%s=%s%s%s", s->name, append ? old : "", append ? " " : "",
                 s->value) < 0)
        abort();
    return entry;
}

char **env_build(char *const *inherited)
{
    size_t count = 0, used = 0;
    char **env;

    while (inherited[count] != NULL)
        count++;
    env = calloc(count + SETTING_COUNT + 1, sizeof *env);
    if (env == NULL)
        abort();
    for (size_t i = 0; i < count; i++)
        if (find_scrub(inherited[i]) == NULL && !is_set_anew(inherited[i]) &&
            (env[used++] = strdup(inherited[i])) == NULL)
            abort();
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const char *old = find_value(inherited, settings[i].name);

        if (settings[i].mode != SET_INHERITED || old != NULL)
            env[used++] = make_entry(&settings[i], old);
    }
    return env;
}

void env_free(char ***env)
{
    if (*env == NULL)
        return;
    for (char **entry = *env; *entry != NULL; entry++)
        free(*entry);
    free(*env);
    *env = NULL;
}

void env_changes(char *const *inherited, env_change_fn *fn, void *owner)
{
    for (char *const *entry = inherited; *entry != NULL; entry++) {
        const struct scrub *s = find_scrub(*entry);
        char name[256];

        if (s == NULL || is_set_anew(*entry))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)name_len(*entry), *entry);
        fn(owner, name, NULL, s->why);
    }
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const char *old = find_value(inherited, settings[i].name);

        if (settings[i].mode != SET_INHERITED || old != NULL)
            fn(owner, settings[i].name, settings[i].value, settings[i].why);
    }
}
