/* See control.h. Two states: until the hand-off nothing is known of the peer, after it
 * there is a session; `session` tells which. Whatever is not understood ends it. */
#include "proxy/control.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "proxy/base/handoff.h"
#include "proxy/base/json.h"
#include "proxy/base/log.h"
#include "proxy/internal.h"

enum { LINE_MAX_LEN = 4096, MESSAGE_MAX = LINE_MAX_LEN + 64 };

/* From the connection to the hand-off: a launcher sets up namespaces in between. */
static const double attach_seconds = 60;

struct control {
    struct core *core; /* borrowed */
    struct control_hooks hooks;
    int fd;
    struct session *session; /* NULL until attached */
    unsigned long lost;      /* events that the peer did not read in time */
    ev_io watch;
    ev_timer deadline;
};

void control_free(struct control **pointer)
{
    struct control *c = *pointer;

    if (c == NULL)
        return;
    ev_io_stop(c->core->loop, &c->watch);
    ev_timer_stop(c->core->loop, &c->deadline);
    session_free(&c->session);
    if (c->lost > 0)
        log_warn("control: %lu events were lost, the peer did not read them", c->lost);
    fd_close(&c->fd);
    free(c);
    *pointer = NULL;
}

static void hang_up(struct control *c)
{
    struct control_hooks hooks = c->hooks;

    session_free(&c->session);
    if (hooks.closed != NULL)
        hooks.closed(hooks.owner);
    control_free(&c);
}

/* What policy has refused. That a server or a name could not be had is none. */
static bool is_violation(const struct verdict *v)
{
    switch (v->reason) {
    case REASON_BAD_RESPONSE:
    case REASON_CLIENT_LEFT:
    case REASON_CONNECT_FAILURE:
    case REASON_DNS_FAILURE:
    case REASON_PARENT_FAILURE:
    case REASON_PARENT_REFUSED:
    case REASON_LIMIT:
    case REASON_TIMEOUT:
        return false;
    default:
        return !v->allow;
    }
}

/* A peer that does not read loses events; it does not hold up the loop, and what it has
 * not read is bounded by its socket. */
static void on_event(void *owner, const struct audit_event *event)
{
    struct control *c = owner;
    char line[LINE_MAX_LEN], message[MESSAGE_MAX];
    struct err e;
    int n;

    if (!is_violation(&event->verdict))
        return;
    if (audit_format(event, ev_now(c->core->loop), line, sizeof line) == 0) {
        c->lost++;
        return;
    }
    n = snprintf(message, sizeof message, "{\"violation\":%s}", line);
    if (!fd_send(c->fd, message, (size_t)n, NULL, 0, &e))
        c->lost++;
}

static void close_from(struct handoff_attach *attach, size_t first)
{
    for (size_t i = first; i < attach->count; i++)
        fd_close(&attach->fds[i]);
}

/* Takes over all descriptors, also when it fails. */
static bool listen_all(struct session *s, struct handoff_attach *attach, struct err *e)
{
    for (size_t i = 0; i < attach->count; i++) {
        bool is_proxy = attach->kinds[i] == HANDOFF_PROXY;

        if (is_proxy && session_listen(s, fd_steal(&attach->fds[i]), false, e))
            continue;
        close_from(attach, i);
        return is_proxy
                   ? false
                   : err_set(e, "sockets[%zu]: only \"proxy\" is supported yet", i);
    }
    return true;
}

static bool start_session(struct control *c, struct handoff_attach *attach,
                          struct err *e)
{
    struct parents *parents = NULL;
    struct policy *policy = c->hooks.policy(c->hooks.owner, attach->policy, &parents);

    if (policy == NULL) {
        close_from(attach, 0);
        return err_set(e, "there is no policy \"%s\" for this session", attach->policy);
    }
    c->session = session_new(c->core, str_from(attach->session), policy, parents);
    session_on_event(c->session, on_event, c);
    return listen_all(c->session, attach, e);
}

static void refuse(struct control *c, const struct err *why)
{
    struct err e;

    log_warn("control: %s", why->text);
    handoff_refuse(c->fd, why->text, &e);
    hang_up(c);
}

/* The first message. */
static void take_attach(struct control *c)
{
    struct handoff_attach attach;
    struct err e = {""};

    switch (handoff_take(c->fd, &attach, &e)) {
    case FD_RECV_AGAIN:
        return;
    case FD_RECV_GONE:
        hang_up(c);
        return;
    case FD_RECV_ERROR:
        refuse(c, &e);
        return;
    case FD_RECV_OK:
        break;
    }
    ev_timer_stop(c->core->loop, &c->deadline);
    if (!start_session(c, &attach, &e) || !handoff_accept(c->fd, attach.session, &e)) {
        refuse(c, &e);
        return;
    }
    if (c->hooks.attached != NULL)
        c->hooks.attached(c->hooks.owner, c->session);
}

static bool is_detach(struct str message)
{
    static const char *const known[] = {"detach", NULL};
    struct json_doc *doc = NULL;
    const cJSON *bad;
    struct err e;
    bool detach;

    if (!json_parse(message, JSON_PROTOCOL, &doc, &e))
        return false;
    detach = json_only_keys(json_root(doc), known, &bad, &e) &&
             cJSON_IsObject(json_get(json_root(doc), "detach"));
    json_free(&doc);
    return detach;
}

/* Later messages. All there is to say is good-bye. */
static void take_message(struct control *c)
{
    char message[MESSAGE_MAX];
    int fds[FD_PASS_MAX];
    size_t len, count;
    struct err e;
    enum fd_recv got = fd_recv(c->fd, message, sizeof message, &len, fds, &count, &e);

    if (got == FD_RECV_AGAIN)
        return;
    if (got == FD_RECV_ERROR) {
        log_warn("control: %s", e.text);
    } else if (got == FD_RECV_OK) {
        for (size_t i = 0; i < count; i++)
            close(fds[i]);
        if (count > 0 || !is_detach((struct str){message, len}))
            log_warn("control: session %s: a message that is not understood; the "
                     "session ends",
                     c->session->name);
    }
    hang_up(c);
}

static void on_message(struct ev_loop *loop, ev_io *w, int events)
{
    struct control *c = w->data;

    (void)loop, (void)events;
    if (c->session == NULL)
        take_attach(c);
    else
        take_message(c);
}

static void on_deadline(struct ev_loop *loop, ev_timer *w, int events)
{
    struct err e = {"no hand-off came in time"};

    (void)loop, (void)events;
    refuse(w->data, &e);
}

struct control *control_new(struct core *core, int fd,
                            const struct control_hooks *hooks)
{
    struct control *c = calloc(1, sizeof *c);

    if (c == NULL)
        abort();
    c->core = core;
    c->hooks = *hooks;
    c->fd = fd;
    fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
    ev_io_init(&c->watch, on_message, fd, EV_READ);
    c->watch.data = c;
    ev_io_start(core->loop, &c->watch);
    ev_timer_init(&c->deadline, on_deadline, attach_seconds, 0);
    c->deadline.data = c;
    ev_timer_start(core->loop, &c->deadline);
    return c;
}
