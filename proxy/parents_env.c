/* The proxy variables of the environment. Capitals count before small letters, as the
 * peer reads them; ALL_PROXY counts where the others are missing. */
#include <stdio.h>

#include "proxy/parents_table.h"

enum { TEXT_MAX = 512, URL_SIZE = 4096 };

/* The value of the first of both names that has one; an empty one is none. */
static struct str variable(char *const *environment, const char *upper,
                           const char *lower, const char **name)
{
    const char *const names[] = {upper, lower};

    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(names[i]);

        for (char *const *v = environment; *v != NULL; v++) {
            if (strncmp(*v, names[i], n) == 0 && (*v)[n] == '=' &&
                (*v)[n + 1] != '\0') {
                *name = names[i];
                return str_from(*v + n + 1);
            }
        }
    }
    return (struct str){"", 0};
}

/* "proxy.example:3128" is a URL there, of http. */
static bool take_variable(struct str value, const char *name, struct parent *out,
                          struct err *e)
{
    char url[URL_SIZE];
    bool bare = memmem(value.p, value.n, "://", 3) == NULL;
    int n =
        snprintf(url, sizeof url, "%s" STR_FMT, bare ? "http://" : "", STR_ARG(value));

    bool good = n > 0 && (size_t)n < sizeof url
                    ? parent_from_url((struct str){url, (size_t)n}, out, e)
                    : err_set(e, "is too long");

    explicit_bzero(url, sizeof url);
    return good || err_wrap(e,
                            "%s (of the environment; it does not count beside a "
                            "network.parentProxy, also an empty one)",
                            name);
}

/* In the environment there are forms of all sorts; what none of ours reads matches
 * nothing, and is told. */
static bool take_no_proxy(const struct parents_options *o, struct parents *p,
                          struct str list, const char *name, struct err *e)
{
    if (!no_proxy_new(&p->no_proxy, e))
        return false;
    while (list.n > 0) {
        struct str entry = str_trim(str_cut(&list, ','));
        char note[NO_PROXY_NOTE_MAX], text[TEXT_MAX];
        struct err why;

        if (entry.n == 0 || no_proxy_add(p->no_proxy, entry, note, &why))
            continue;
        snprintf(text, sizeof text, "%s: \"" STR_FMT "\" %.200s", name,
                 STR_ARG(str_head(entry, 80)), why.text);
        if (o->warn != NULL)
            o->warn(o->owner, text);
    }
    no_proxy_seal(p->no_proxy);
    return true;
}

bool parents_read_environment(const struct parents_options *o, struct parents *p,
                              struct err *e)
{
    const char *http_name, *https_name, *direct_name, *all_name;
    struct str all = variable(o->environment, "ALL_PROXY", "all_proxy", &all_name);
    struct str http = variable(o->environment, "HTTP_PROXY", "http_proxy", &http_name);
    struct str https =
        variable(o->environment, "HTTPS_PROXY", "https_proxy", &https_name);
    struct str direct = variable(o->environment, "NO_PROXY", "no_proxy", &direct_name);

    if (http.n == 0) {
        http = all;
        http_name = all_name;
    }
    if (http.n > 0 && !take_variable(http, http_name, &p->parent[PARENTS_HTTP], e))
        return false;
    if (https.n > 0 && !take_variable(https, https_name, &p->parent[PARENTS_HTTPS], e))
        return false;
    if (!parents_take_contexts(p, NULL, e))
        return err_wrap(e, "%s", https.n > 0 ? https_name : http_name);
    return direct.n == 0 || (http.n == 0 && https.n == 0) ||
           take_no_proxy(o, p, direct, direct_name, e);
}
