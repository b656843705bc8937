/* `weir check`: what would be decided, by which rule, and why. Reads what `run` and
 * `gateway` read and asks the same functions, so that its answer is theirs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/base/log.h"
#include "proxy/cmd/check_files.h"
#include "proxy/cmd/check_print.h"
#include "proxy/cmd/cmd.h"

enum {
    NAMES_MAX = 256,
    TARGET_ARENA = 1024,
    LINE_MAX_LEN = 4096,
    LINE_SIZE = LINE_MAX_LEN + 3
};

struct check {
    struct judge_source source;
    bool resolve, json, quiet;

    struct judge *judge;
    unsigned asked, denied, unreadable;
};

static const struct option options[] = {
    {"settings", 's', OPTION_TEXT, offsetof(struct check, source.settings), "FILE",
     "judge by this settings file"},
    {"file", 'f', OPTION_TEXT, offsetof(struct check, source.gateway), "FILE",
     "judge by this gateway file"},
    {"from-list", 0, OPTION_TEXT, offsetof(struct check, source.list), "FILE",
     "judge by a plain list of domains; without a target, print it as settings"},
    {"as", 0, OPTION_TEXT, offsetof(struct check, source.as), "CLIENT",
     "judge for this client of the gateway file"},
    {"resolve", 'r', OPTION_FLAG, offsetof(struct check, resolve), NULL,
     "look allowed names up and judge each address"},
    {"json", 'j', OPTION_FLAG, offsetof(struct check, json), NULL,
     "print one JSON object a line"},
    {"quiet", 'q', OPTION_FLAG, offsetof(struct check, quiet), NULL,
     "print only errors"},
    {.name = NULL},
};

static const char details[] =
    "A target is host:port, a URL, an address ([::1]:443), or a host alone, which is\n"
    "asked for at port 443. \"-\" reads targets from standard input, one a line. "
    "Without\n"
    "a target the whole file is checked, for a start from the current folder, and "
    "summed\n"
    "up. Options stand in front of targets.\n"
    "\n"
    "A gateway file with clients is judged for one of them, which --as names.\n"
    "\n"
    "Without -s and -f the settings are looked for where weir run looks for them.\n"
    "\n"
    "exit status: 0 when all targets are allowed, 1 when one is denied, 2 when "
    "settings\n"
    "or a target cannot be read\n";

static bool check_sources(const struct check *c, struct err *e)
{
    int count = (c->source.settings != NULL) + (c->source.gateway != NULL) +
                (c->source.list != NULL);

    if (count > 1)
        return err_set(e,
                       "only one of --settings, --file and --from-list can be given");
    return c->source.as == NULL || c->source.gateway != NULL ||
           err_set(e, "--as names a client of a gateway file; see -f FILE");
}

static void on_warning(void *owner, const char *text)
{
    const struct check *c = owner;

    if (!c->quiet)
        log_warn("%s", text);
}

static void print_answer(struct check *c, const struct check_answer *a)
{
    if (c->quiet)
        return;
    if (c->json)
        check_print_json(c->judge, a);
    else
        check_print_text(c->judge, a);
}

static void unreadable(struct check *c, const struct err *e)
{
    c->unreadable++;
    log_error("check: %s", e->text);
}

static void check_one(struct check *c, struct str text)
{
    struct arena arena;
    struct target target;
    struct judged judged;
    struct check_answer a = {.asked = text, .target = &target, .judged = &judged};
    enum dial_use use;
    struct err e;

    c->asked++;
    arena_init(&arena, TARGET_ARENA);
    if (!check_target_parse(text, &arena, &target, &a.port_from, &use, &e) ||
        !judge_target(c->judge, &target, use, c->resolve, &judged, &e)) {
        unreadable(c, &e);
    } else {
        c->denied += !judged.verdict.allow;
        print_answer(c, &a);
    }
    arena_done(&arena);
}

static void check_line(struct check *c, struct str line, unsigned number)
{
    unsigned before = c->unreadable;
    struct str word;
    struct err e;

    if (str_ends(line, STR("\n")))
        line.n--;
    if (str_ends(line, STR("\r")))
        line.n--;
    word = str_trim(line);
    if (str_starts(word, STR("#")))
        return;
    if (line.n > LINE_MAX_LEN) {
        err_set(&e, "more than %d bytes", LINE_MAX_LEN);
        unreadable(c, &e);
    } else if (word.n > 0) {
        check_one(c, word);
    }
    if (c->unreadable > before)
        log_error("check: that was line %u of standard input", number);
}

/* One line with its end; of one that is too long only so much that this shows. */
static bool read_line(char line[LINE_SIZE], size_t *n)
{
    int c = 0;

    for (*n = 0; c != '\n' && (c = getc_unlocked(stdin)) != EOF;)
        if (*n < LINE_SIZE)
            line[(*n)++] = (char)c;
    return *n > 0;
}

static void check_stdin(struct check *c)
{
    unsigned number = 0, before = c->asked;
    char line[LINE_SIZE];
    size_t n;
    struct err e;

    while (read_line(line, &n))
        check_line(c, (struct str){line, n}, ++number);
    if (ferror(stdin)) {
        err_set(&e, "standard input cannot be read");
        unreadable(c, &e);
    } else if (c->asked == before && c->unreadable == 0) {
        err_set(&e, "no target on standard input");
        unreadable(c, &e);
    }
}

/* No host begins with a dash in earnest: it is an option in the wrong place, and must
 * not become a target that is denied. */
static void misplaced(struct check *c, const char *word)
{
    struct err e;

    err_set(&e, "\"%.80s\": options stand in front of the targets", word);
    unreadable(c, &e);
}

/* Where there are clients an answer is one's, and one client's answer must not be taken
 * for that of another. */
static bool check_asks_for_client(const struct check *c, struct err *e)
{
    const struct config *config = judge_config(c->judge);
    char names[NAMES_MAX] = "";
    size_t n = 0;

    if (config == NULL || judge_client(c->judge) != NULL ||
        config->settings.client_count == 0)
        return true;
    for (size_t i = 0; i < config->settings.client_count && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i > 0 ? ", " : "",
                              config->clients[i].settings->name);
    return err_set(e, "%s: for which client? see --as; there are: %s%s",
                   judge_file(c->judge), names, n < sizeof names ? "" : "…");
}

static void check_targets(struct check *c, int count, char **targets)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(targets[i], "-") == 0)
            check_stdin(c);
        else if (targets[i][0] == '-')
            misplaced(c, targets[i]);
        else
            check_one(c, str_from(targets[i]));
    }
}

static void sum_up(struct check *c)
{
    struct str converted = judge_converted(c->judge);
    struct err e;

    if (!check_files(c->judge, on_warning, c, &e))
        unreadable(c, &e);
    else if (converted.n > 0)
        fwrite(converted.p, 1, converted.n, stdout);
    else if (!c->quiet)
        check_print_summary(c->judge);
}

static int status_of(const struct check *c)
{
    if (c->unreadable > 0)
        return EXIT_USAGE;
    return c->denied > 0 ? EXIT_DENIED : EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct check c = {.judge = NULL};
    struct err e;
    int rest, status;

    if (!options_parse(options, &c, argc, argv, &rest, &e) || !check_sources(&c, &e) ||
        !judge_new(&c.source, on_warning, &c, &c.judge, &e)) {
        log_error("check: %s", e.text);
        return EXIT_USAGE;
    }
    if (rest == argc)
        sum_up(&c);
    else if (!check_asks_for_client(&c, &e))
        unreadable(&c, &e);
    else
        check_targets(&c, argc - rest, argv + rest);
    status = status_of(&c);
    judge_free(&c.judge);
    return status;
}

const struct command cmd_check = {
    .name = "check",
    .usage = "weir check [-s FILE | -f FILE [--as CLIENT]] [--resolve] [--json] [-q] "
             "[TARGET]...",
    .summary = "Say what would be allowed, by which rule and why",
    .options = options,
    .details = details,
    .run = run,
};
