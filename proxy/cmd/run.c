/* weir run: settings to plan and policy, then a sandbox made from them, then the core
 * that serves it. Whatever can be refused is refused before anything is made. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/stdio.h"
#include "proxy/base/fd.h"
#include "proxy/base/log.h"
#include "proxy/cmd/cmd.h"
#include "proxy/cmd/run_policy.h"
#include "proxy/cmd/run_print.h"
#include "proxy/running.h"
#include "proxy/summary.h"
#include "proxy/updates.h"

/* How long the audit may take to write what it has. */
static const double audit_seconds = 5;

enum { GUARDED_MAX = 8, SHELL_WORDS = 4, SESSION_MAX = 32 };

struct run {
    const char *settings_file, *launcher_name, *audit_file, *script, *control_fd;
    struct option_texts allow;
    bool explain, quiet, verbose, no_settings;

    char *shell[SHELL_WORDS]; /* of -c */
    char **argv;              /* borrowed: the command */
    const struct launcher *launcher;
    struct settings settings;
    struct run_policy policy;
    struct plan plan;
    int audit_fd, updates_fd;
    struct summary *summary;
};

static const struct option options[] = {
    {"settings", 's', OPTION_TEXT, offsetof(struct run, settings_file), "FILE",
     "settings to run under"},
    {"allow", 0, OPTION_TEXTS, offsetof(struct run, allow), "HOST",
     "allow this too, as allowedDomains does; may be repeated"},
    {"launcher", 0, OPTION_TEXT, offsetof(struct run, launcher_name), "NAME",
     "how the sandbox is made: namespaces"},
    {"audit", 0, OPTION_TEXT, offsetof(struct run, audit_file), "FILE",
     "append a line of JSON for each request; \"-\" is standard output"},
    {"control-fd", 0, OPTION_TEXT, offsetof(struct run, control_fd), "N",
     "take new settings from descriptor N while the command runs, one a line"},
    {"explain", 0, OPTION_FLAG, offsetof(struct run, explain), NULL,
     "print what would be made, and run nothing"},
    {"quiet", 'q', OPTION_FLAG, offsetof(struct run, quiet), NULL,
     "no warnings, no summary of what was denied"},
    {"verbose", 'v', OPTION_FLAG, offsetof(struct run, verbose), NULL,
     "tell each request when it has ended"},
    {"command", 'c', OPTION_TEXT, offsetof(struct run, script), "STRING",
     "run STRING with sh -c"},
    /* For srt, which looks for its own file alone. */
    {"no-settings", 0, OPTION_HIDDEN_FLAG, offsetof(struct run, no_settings), NULL,
     "under the defaults, whatever files there are"},
    {.name = NULL},
};

static const char details[] =
    "Options stop at the first word that is none; what follows is the command, with "
    "its\n"
    "own options. Without -s the settings are looked for in $XDG_CONFIG_HOME/weir/\n"
    "settings.json and ~/.srt-settings.json; without any, nothing is allowed out and\n"
    "nothing but a private TMPDIR is writable.\n"
    "\n"
    "Without a parentProxy in the settings, HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and\n"
    "NO_PROXY of the environment say through which proxy connections go.\n"
    "\n"
    "When the command has ended, what it left running gets SIGTERM and, half a second\n"
    "later, SIGKILL.\n"
    "\n"
    "exit status: the command's; 128+n when signal n ended it; 125 when Weir refused "
    "or\n"
    "failed: nothing was started, or it was ended; 126 when the command cannot be\n"
    "executed; 127 when it was not found\n";

static void on_warning(void *owner, const char *text)
{
    const struct run *r = owner;

    if (!r->quiet)
        log_warn("%s", text);
}

static void on_plan_warning(void *owner, const char *text)
{
    const struct run *r = owner;
    char whole[1024];

    if (r->settings.path != NULL)
        snprintf(whole, sizeof whole, "%s: %s", r->settings.path, text);
    else
        snprintf(whole, sizeof whole, "%s", text);
    on_warning(owner, whole);
}

static bool take_command(struct run *r, char **rest, struct err *e)
{
    if (r->script != NULL && rest[0] != NULL)
        return err_set(e, "-c takes the whole command: \"%.64s\" is left over",
                       rest[0]);
    if (r->script == NULL && rest[0] == NULL)
        return err_set(e, "expected a command; see weir help run");
    if (r->script == NULL) {
        r->argv = rest;
        return true;
    }
    r->shell[0] = (char *)"/bin/sh";
    r->shell[1] = (char *)"-c";
    r->shell[2] = (char *)r->script;
    r->argv = r->shell;
    return true;
}

/* The file is opened, and so made, before the plan: what exists can be protected. */
static bool open_audit(struct run *r, struct err *e)
{
    if (r->audit_file == NULL || r->explain)
        return true;
    if (strcmp(r->audit_file, "-") == 0)
        r->audit_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    else
        r->audit_fd = open(
            r->audit_file,
            O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    return r->audit_fd >= 0 || err_sys(e, "--audit: %s", r->audit_file);
}

static bool find_program(char path[PATH_MAX], struct err *e)
{
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);

    if (len < 0)
        return err_sys(e, "cannot find the program itself: /proc/self/exe");
    path[len] = '\0';
    return true;
}

static bool load_plan(struct run *r, struct err *e)
{
    char *defaults[3], program[PATH_MAX];
    size_t count = settings_default_paths(defaults), n = 0;
    struct plan_guarded guarded[GUARDED_MAX];
    struct plan_options o = {.doc = r->settings.doc,
                             .filesystem = r->settings.filesystem,
                             .argv = r->argv,
                             .environment = environ,
                             .guarded = guarded,
                             .enforces = r->launcher->enforces,
                             .launcher = r->launcher->name,
                             .warn = on_plan_warning,
                             .warn_owner = r};
    bool good = find_program(program, e);

    guarded[n++] = (struct plan_guarded){.path = program, .what = "the weir program"};
    if (r->settings.path != NULL)
        guarded[n++] = (struct plan_guarded){.path = r->settings.path,
                                             .what = "the settings in use"};
    for (size_t i = 0; i < count; i++)
        guarded[n++] = (struct plan_guarded){.path = defaults[i],
                                             .what = "a default settings file",
                                             .shields_later = true};
    if (r->audit_fd >= 0 && strcmp(r->audit_file, "-") != 0)
        guarded[n++] = (struct plan_guarded){
            .path = r->audit_file, .what = "the audit file", .written = true};
    o.guarded_count = n;
    good = good && (plan_load(&o, &r->plan, e) ||
                    (r->settings.path != NULL && err_wrap(e, "%s", r->settings.path)));
    for (size_t i = 0; i < count; i++)
        free(defaults[i]);
    return good;
}

static bool load_settings(struct run *r, struct err *e)
{
    if (!r->no_settings)
        return settings_load(r->settings_file, on_warning, r, &r->settings, e);
    if (r->settings_file != NULL)
        return err_set(e, "--settings and --no-settings contradict each other");
    settings_none(&r->settings);
    return true;
}

/* Before anything is opened: the number is that of a descriptor that was passed on. */
static bool take_control(struct run *r, struct err *e)
{
    return r->control_fd == NULL || updates_take(r->control_fd, &r->updates_fd, e) ||
           err_wrap(e, "--control-fd");
}

static bool load(struct run *r, int argc, char **argv, struct err *e)
{
    int rest;

    if (!stdio_fill(e) || !options_parse(options, r, argc, argv, &rest, e) ||
        !take_control(r, e))
        return false;
    log_set_level(r->quiet     ? LOG_LEVEL_ERROR
                  : r->verbose ? LOG_LEVEL_DEBUG
                               : LOG_LEVEL_INFO);
    return take_command(r, argv + rest, e) &&
           launcher_find(r->launcher_name, &r->launcher, e) && load_settings(r, e) &&
           run_policy_load(&r->settings, &r->allow, on_warning, r, &r->policy, e) &&
           open_audit(r, e) && load_plan(r, e);
}

static void on_event(void *owner, const struct audit_event *event)
{
    struct run *r = owner;

    run_print_event(event);
    summary_add(r->summary, event);
}

static bool on_update(void *owner, unsigned long number, struct str line,
                      struct policy **policy, struct parents **parents, struct err *e)
{
    struct run *r = owner;
    struct run_policy next = {NULL};

    if (!run_policy_update(&r->settings, &r->allow, r->control_fd, number, line,
                           on_warning, r, &next, e))
        return false;
    run_policy_done(&r->policy);
    r->policy = next;
    *policy = next.policy;
    *parents = next.parents;
    return true;
}

/* Standard input and output are the command's from here on: a pipe to us must close
 * when the command closes it. */
static void release_stdio(void)
{
    autofd int null = open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY);

    if (null < 0)
        return;
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
}

/* The supervisor is at work already while the core is set up. */
static bool serve(struct run *r, struct sandbox *sandbox, int *status, struct err *e)
{
    struct audit_options audit_options = {.fd = r->audit_fd, .on_full = AUDIT_REFUSE};
    struct running_options o = {.policy = r->policy.policy,
                                .parents = r->policy.parents,
                                .on_event = on_event,
                                .on_update = on_update,
                                .updates_fd = -1,
                                .owner = r,
                                .own_group = r->plan.own_group};
    bool good = true;

    release_stdio();
    core_raise_descriptors();
    if (r->audit_fd >= 0) {
        r->audit_fd = -1;
        good = audit_new(&audit_options, &o.audit, e);
    }
    log_set_waiting(false);
    o.updates_fd = good ? fd_steal(&r->updates_fd) : -1;
    if (good)
        good = running_serve(sandbox, &o, status, e);
    else
        sandbox_done(sandbox);
    log_set_waiting(true);
    audit_free(&o.audit, audit_seconds);
    return good;
}

static bool start(struct run *r, int *status, struct err *e)
{
    char session[SESSION_MAX];
    struct sandbox sandbox;
    sigset_t before;
    bool good;

    if (!stdio_check(e))
        return false;
    snprintf(session, sizeof session, "run-%d", (int)getpid());
    running_block_signals(&before);
    r->summary = summary_new();
    good = launcher_start(r->launcher, &r->plan, session, &before, &sandbox, e) &&
           serve(r, &sandbox, status, e);
    if (good && !r->quiet)
        summary_print(r->summary, r->settings.path, stderr);
    plan_report_made(&r->plan, on_warning, r);
    running_restore_signals(&before);
    return good;
}

static void run_done(struct run *r)
{
    summary_free(&r->summary);
    plan_done(&r->plan);
    run_policy_done(&r->policy);
    settings_done(&r->settings);
    fd_close(&r->updates_fd);
    fd_close(&r->audit_fd);
}

static int run(int argc, char **argv)
{
    struct run r = {.audit_fd = -1, .updates_fd = -1};
    int status = EXIT_WEIR;
    struct err e;
    bool good = load(&r, argc, argv, &e);

    if (good && r.explain) {
        run_print(&r.plan, &r.settings, r.launcher, &r.allow, r.policy.parents);
        status = EXIT_OK;
    } else if (good) {
        good = start(&r, &status, &e);
    }
    if (!good)
        log_error("%s", e.text);
    run_done(&r);
    return status;
}

const struct command cmd_run = {
    .name = "run",
    .usage = "weir run [-s FILE] [--allow HOST]... [--audit FILE] [-c STRING | [--] "
             "COMMAND [ARG]...]",
    .summary = "run a command in a sandbox whose only way out is the proxy",
    .options = options,
    .details = details,
    .run = run,
};
