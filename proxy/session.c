#include "proxy/session.h"

#include <stdlib.h>

#include "proxy/conn.h"
#include "proxy/internal.h"
#include "proxy/listener.h"
#include "proxy/parents.h"

struct session *session_new(struct core *c, struct str name, struct policy *policy,
                            struct parents *parents)
{
    struct session *s = calloc(1, sizeof *s);

    if (s == NULL || (s->name = strndup(name.p, name.n)) == NULL)
        abort();
    s->core = c;
    s->policy = policy_ref(policy);
    s->parents = parents_ref(parents);
    s->next = c->sessions;
    if (s->next != NULL)
        s->next->prev = s;
    c->sessions = s;
    return s;
}

static void leave_core(struct session *s)
{
    if (s->prev != NULL)
        s->prev->next = s->next;
    else
        s->core->sessions = s->next;
    if (s->next != NULL)
        s->next->prev = s->prev;
}

void session_free(struct session **s)
{
    if (*s == NULL)
        return;
    listener_close_all(*s);
    conn_close_all(*s);
    upstream_drop(*s);
    policy_unref(&(*s)->policy);
    parents_unref(&(*s)->parents);
    leave_core(*s);
    free((*s)->name);
    free(*s);
    *s = NULL;
}

bool session_listen(struct session *s, int fd, bool own_namespace, struct err *e)
{
    return listener_open(s, fd, own_namespace, e);
}

void session_identify(struct session *s, session_identify_fn *fn, void *owner)
{
    s->identify = fn;
    s->identify_owner = owner;
}

void session_rest(struct session *s)
{
    listener_close_all(s);
}

void session_close_idle(struct session *s, double silent)
{
    conn_close_idle(s, silent);
}

size_t session_connections(const struct session *s)
{
    return s->connections;
}

void session_set_policy(struct session *s, struct policy *policy,
                        struct parents *parents)
{
    struct policy *old = s->policy;
    struct parents *old_parents = s->parents;

    s->policy = policy_ref(policy);
    s->parents = parents_ref(parents);
    /* What is kept for the next request may have come another way than that one goes.
     */
    if (parents != NULL || old_parents != NULL) {
        s->ways++;
        upstream_drop(s);
    }
    policy_unref(&old);
    parents_unref(&old_parents);
    conn_judge_all(s);
}

void session_on_event(struct session *s, session_event_fn *fn, void *owner)
{
    s->on_event = fn;
    s->on_event_owner = owner;
}
