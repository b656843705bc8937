/* The command's environment: the caller's, without what makes programs load code of
 * somebody else's, and with what leads programs to the proxy. */
#ifndef LAUNCHER_ENV_H
#define LAUNCHER_ENV_H

#include <stddef.h>

/* The proxy's address inside every sandbox, and the folder for temporary files. */
#define SANDBOX_PROXY_HOST "127.0.0.1"
#define SANDBOX_PROXY_PORT "3128"
enum { SANDBOX_PROXY_NUMBER = 3128 };
#define SANDBOX_TMPDIR "/dev/shm/tmp"

/* A new NULL-terminated list, for env_free(). */
char **env_build(char *const *inherited);
void env_free(char ***env);

/* What env_build() does, for people: called for each row that says something about this
 * environment, in the order of the tables. `value` NULL: it is taken away. */
typedef void env_change_fn(void *owner, const char *name, const char *value,
                           const char *why);
void env_changes(char *const *inherited, env_change_fn *fn, void *owner);

#endif
