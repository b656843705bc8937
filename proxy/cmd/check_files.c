#include "proxy/cmd/check_files.h"

#include <stdio.h>

#include "launcher/launcher.h"

/* The plan does not know from which file it is read. */
struct listener {
    const struct judge *judge;
    policy_warn_fn *warn;
    void *owner;
};

static void on_plan_warning(void *owner, const char *text)
{
    const struct listener *l = owner;
    char whole[1024];

    snprintf(whole, sizeof whole, "%s: %s", judge_file(l->judge), text);
    l->warn(l->owner, whole);
}

bool check_files(const struct judge *j, policy_warn_fn *warn, void *owner,
                 struct err *e)
{
    static char *const nothing[] = {NULL};
    const struct settings *settings = judge_settings(j);
    struct listener listener = {j, warn, owner};
    const struct launcher *launcher;
    struct plan plan;

    if (settings == NULL || settings->filesystem == NULL)
        return true;
    if (!launcher_find(NULL, &launcher, e))
        return false;
    if (!plan_load(&(struct plan_options){.doc = settings->doc,
                                          .filesystem = settings->filesystem,
                                          .argv = nothing,
                                          .environment = environ,
                                          .enforces = launcher->enforces,
                                          .launcher = launcher->name,
                                          .warn = on_plan_warning,
                                          .warn_owner = &listener},
                   &plan, e))
        return err_wrap(e, "%s", judge_file(j));
    plan_done(&plan);
    return true;
}
