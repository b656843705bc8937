/* weir gateway: the core as a server of its own. Whatever can be wrong with its file is
 * found here, before anything is opened; the rest is proxy/serving.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy/base/log.h"
#include "proxy/cmd/cmd.h"
#include "proxy/serving.h"

struct arguments {
    const char *file;
    bool quiet, verbose, check;
};

static void warn(void *owner, const char *text)
{
    (void)owner;
    log_warn("%s", text);
}

static const struct option options[] = {
    {"file", 'f', OPTION_TEXT, offsetof(struct arguments, file), "FILE",
     "the gateway file"},
    {"check", 0, OPTION_FLAG, offsetof(struct arguments, check), NULL,
     "read the file, say what is wrong with it, and end"},
    {"quiet", 'q', OPTION_FLAG, offsetof(struct arguments, quiet), NULL,
     "only warnings and errors"},
    {"verbose", 'v', OPTION_FLAG, offsetof(struct arguments, verbose), NULL,
     "also what matters only when something is looked for"},
    {.name = NULL},
};

static bool read_arguments(int argc, char **argv, struct arguments *out, struct err *e)
{
    int rest;

    if (!options_parse(options, out, argc, argv, &rest, e))
        return false;
    if (rest < argc)
        return err_set(e,
                       "\"%.40s\" is not expected: the gateway file stands behind -f",
                       argv[rest]);
    if (out->file == NULL)
        return err_set(e, "which gateway file? see -f FILE");
    if (out->quiet)
        log_set_level(LOG_LEVEL_WARN);
    if (out->verbose)
        log_set_level(LOG_LEVEL_DEBUG);
    return true;
}

/* What only the start would tell. Somebody else may make it until then. */
static void look_at_audit(const struct config *config)
{
    const char *path = config->settings.audit.file, *slash = strrchr(path, '/');
    char *folder;

    if (slash == NULL || slash == path)
        return;
    folder = strndup(path, (size_t)(slash - path));
    if (folder == NULL)
        abort();
    if (access(folder, W_OK | X_OK) != 0)
        log_warn("%s: audit.file: no file can be made in %s: %s", config->settings.path,
                 folder, strerror(errno));
    free(folder);
}

static bool serve(const char *file, struct config *config, struct err *e)
{
    bool ok;

    log_set_waiting(false);
    ok = serving_run(file, config, e);
    log_set_waiting(!ok);
    return ok;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct config *config = NULL;
    struct err e = {""};
    bool ok = read_arguments(argc, argv, &arguments, &e) &&
              config_load(arguments.file, warn, NULL, &config, &e);

    if (ok && arguments.check) {
        look_at_audit(config);
        log_info("%s: nothing is wrong with it", arguments.file);
    }
    if (ok && !arguments.check)
        ok = serve(arguments.file, config, &e);
    config_unref(&config);
    if (!ok)
        log_error("gateway: %s", e.text);
    return ok ? EXIT_OK : EXIT_USAGE;
}

const struct command cmd_gateway = {
    .name = "gateway",
    .usage = "weir gateway -f FILE [--check] [-q | -v]",
    .summary = "Serve the policy of a gateway file to whoever may connect",
    .options = options,
    .details =
        "The file is read anew on SIGHUP, and when it or a file that it names has\n"
        "changed. With any error in it everything stays as it was, and the log says\n"
        "what is wrong; else the log says when all workers judge by it. Tunnels that\n"
        "it denies are cut. Only a restart changes admin, audit, resolver and\n"
        "workers. SIGHUP opens the audit file anew, too.\n\n"
        "SIGTERM and SIGINT end it: no new connections are taken, those that are idle\n"
        "are closed, others may go on for limits.drainSeconds; a second one ends it "
        "at\n"
        "once.\n\n"
        "With admin in the file, an address of loopback or \"unix:/path\", it answers\n"
        "GET /metrics (for Prometheus), /healthz (503 when a restart would help; what\n"
        "is not as it should be stands in the text) and /readyz (503 when clients\n"
        "should go elsewhere).\n\n"
        "Under systemd it takes sockets that were passed on (\"systemd\" in listen),\n"
        "and tells when it is ready, reloads, ends, and is alive (Type=notify,\n"
        "WatchdogSec=).\n\n"
        "It ends with 0 after a signal, and with 2 when the file cannot be used.\n",
    .run = run,
};
