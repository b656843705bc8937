/* The command line of srt, for when weir is invoked by that name: each of its options
 * is one of `weir run`, or is refused with what to do instead. Two things differ on
 * purpose: options stop at the command's name, so that `srt curl -s URL` gives -s to
 * curl; and a command is executed as it stands, where srt quotes it for a shell. */
#include <stdlib.h>
#include <string.h>

#include "proxy/base/log.h"
#include "proxy/cmd/cmd.h"
#include "proxy/settings.h"

/* "run", "-v", "-s", FILE, "--control-fd", N, "--", and the shell of -c. */
enum { OWN_WORDS = 10 };

struct srt {
    const char *settings_file, *script, *control_fd;
    bool debug, version;
};

static const struct option options[] = {
    {"settings", 's', OPTION_TEXT, offsetof(struct srt, settings_file), "FILE",
     "settings to run under, instead of ~/.srt-settings.json"},
    {"command", 'c', OPTION_TEXT, offsetof(struct srt, script), "STRING",
     "run STRING with bash -c"},
    {"debug", 'd', OPTION_FLAG, offsetof(struct srt, debug), NULL,
     "tell each request, as SRT_DEBUG in the environment does"},
    {"control-fd", 0, OPTION_TEXT, offsetof(struct srt, control_fd), "N",
     "take new settings from descriptor N while the command runs, one a line"},
    {"version", 0, OPTION_FLAG, offsetof(struct srt, version), NULL,
     "print the version of weir"},
    {.name = NULL},
};

static const char details[] =
    "This is weir, invoked as srt: it takes srt's command line and does what weir run\n"
    "does. Options stop at the first word that is none. Without -s and without\n"
    "~/.srt-settings.json nothing is allowed out, and nothing but a private TMPDIR is\n"
    "writable.\n"
    "\n"
    "exit status: as that of weir run; what srt itself refuses is 125 here\n";

/* Commands of srt that are none here, and what to use. */
static const struct {
    const char *name, *instead;
} foreign[] = {
    {"proxy",
     "it needs TLS termination and deciders, which are not built yet; the proxy "
     "without a sandbox is weir gateway -f FILE"},
    {"windows-install", "it is for Windows, and there is nothing to install here"},
    {"windows-uninstall", "it is for Windows, and there is nothing to install here"},
};

static bool refuse_foreign(const char *word, struct err *e)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(word, foreign[i].name) == 0)
            return err_set(e,
                           "srt %s is not supported: %s (to run a command of that "
                           "name: srt -- %s)",
                           word, foreign[i].instead, word);
    return true;
}

static bool check(const struct srt *s, char **argv, int rest, struct err *e)
{
    if (s->script != NULL && argv[rest] != NULL)
        return err_set(e, "-c takes the whole command: \"%.64s\" is left over",
                       argv[rest]);
    if (s->script == NULL && argv[rest] == NULL)
        return err_set(e, "expected a command; see srt --help");
    /* Behind "--" every word is a command. */
    return s->script != NULL || strcmp(argv[rest - 1], "--") == 0 ||
           refuse_foreign(argv[rest], e);
}

static bool wants_debug(const struct srt *s)
{
    const char *debug = getenv("SRT_DEBUG");

    return s->debug || (debug != NULL && debug[0] != '\0');
}

static void add(char **words, size_t *n, const char *word)
{
    words[(*n)++] = (char *)word;
}

/* The same for `weir run`; `own` is the default settings file, or NULL. */
static size_t translate(const struct srt *s, const char *own, char **rest, char **words)
{
    const char *file = s->settings_file != NULL ? s->settings_file : own;
    size_t n = 0;

    add(words, &n, "run");
    if (wants_debug(s))
        add(words, &n, "--verbose");
    if (file != NULL)
        add(words, &n, "--settings");
    add(words, &n, file != NULL ? file : "--no-settings");
    if (s->control_fd != NULL) {
        add(words, &n, "--control-fd");
        add(words, &n, s->control_fd);
    }
    add(words, &n, "--");
    if (s->script != NULL) {
        add(words, &n, "bash");
        add(words, &n, "-c");
        add(words, &n, s->script);
    }
    for (; *rest != NULL; rest++)
        add(words, &n, *rest);
    words[n] = NULL;
    return n;
}

static int run_translated(const struct srt *s, int argc, char **argv, int rest)
{
    char **words = calloc((size_t)(argc - rest) + OWN_WORDS + 1, sizeof *words);
    char *own = settings_srt_file();
    int status;

    if (words == NULL)
        abort();
    status = cmd_run.run((int)translate(s, own, argv + rest, words), words);
    free(own);
    free(words);
    return status;
}

static int run(int argc, char **argv)
{
    struct srt s = {NULL};
    char *version[] = {(char *)"version", NULL};
    struct err e;
    int rest;
    bool good = options_parse(options, &s, argc, argv, &rest, &e);

    if (good && s.version)
        return cmd_version.run(1, version);
    if (!good || !check(&s, argv, rest, &e)) {
        log_error("%s", e.text);
        return EXIT_WEIR;
    }
    return run_translated(&s, argc, argv, rest);
}

const struct command cmd_srt = {
    .name = "srt",
    .usage = "srt [-d] [-s FILE] [--control-fd N] [-c STRING | [--] COMMAND [ARG]...]",
    .summary = "run a command as weir run does, by the command line of srt",
    .options = options,
    .details = details,
    .run = run,
};
