/* A SOCKS client: whole, and in pieces, it comes to the same end. What is understood is
 * a target that reads as it was written; what is refused has a reason and an answer.
 * The first byte says how large the pieces are, whether somebody must log in or
 * would be heard, and whether the login is good. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "proxy/front.h"

enum { ARENA_SIZE = 4096, IN_MAX = 4096, OUT_MAX = 64, AUTHORITY_MAX = 300 };
enum { LONGEST = 2 + 255 + 3 + 2 * 255 + 4 + 1 + 255 + 2 }; /* of all messages */

struct client {
    const struct front *front;
    struct arena arena;
    struct buf in, out;
    struct front_asked asked;
    enum front_parse result;
    unsigned char phase;
    bool login_wanted, login_heard, login_good, over;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* True: there is more to parse. */
static bool note(struct client *c, size_t used)
{
    switch (c->result) {
    case FRONT_REPLY:
        require(used > 0 && c->asked.reply.n == 2 && buf_add(&c->out, c->asked.reply));
        return true;
    case FRONT_LOGIN:
        require(used > 0 && c->asked.login.given && c->front->logged_in != NULL);
        c->front->logged_in(&c->out, c->login_good);
        c->login_wanted = c->login_wanted && !c->login_good;
        c->over = !c->login_good;
        return c->login_good;
    case FRONT_DONE:
        require(used > 0);
        c->over = true;
        return false;
    case FRONT_REFUSED:
        require(used == 0 && c->asked.raw.n <= 64 && c->asked.why[0] != '\0');
        require(c->asked.status >= 400 && c->asked.target.kind == HOST_NONE);
        c->over = true;
        return false;
    case FRONT_MORE:
        require(used == 0 && buf_len(&c->in) < LONGEST);
        return false;
    }
    abort();
}

static void parse(struct client *c)
{
    bool more = true;

    while (more && buf_len(&c->in) > 0) {
        struct front_call call = {.in = buf_view(&c->in),
                                  .head_max = IN_MAX,
                                  .arena = &c->arena,
                                  .login_wanted = c->login_wanted,
                                  .login_heard = c->login_heard,
                                  .phase = &c->phase};
        size_t used = 0;

        arena_done(&c->arena);
        arena_init(&c->arena, ARENA_SIZE);
        c->result = c->front->parse(&call, &c->asked, &used);
        require(used <= call.in.n);
        buf_drain(&c->in, used);
        more = note(c, used);
    }
}

static void run(struct client *c, uint8_t how, struct str sent, size_t piece)
{
    *c = (struct client){
        .front = sent.p[0] == 4 ? &front_socks4 : &front_socks5,
        .login_wanted = (how & 1) != 0,
        .login_good = (how & 2) != 0,
        .login_heard = (how & 128) != 0,
    };
    buf_init(&c->in, IN_MAX);
    buf_init(&c->out, OUT_MAX);
    for (; sent.n > 0; sent = str_skip(sent, piece)) {
        require(buf_add(&c->in, str_head(sent, piece)));
        if (!c->over)
            parse(c);
    }
}

static void end(struct client *c)
{
    arena_done(&c->arena);
    buf_done(&c->in);
    buf_done(&c->out);
}

static void check_target(const struct target *t)
{
    char text[AUTHORITY_MAX];
    struct arena a;
    struct target again;

    snprintf(text, sizeof text, t->ip.family == 6 ? "[%s]:%u" : "%s:%u", t->host.p,
             t->port);
    arena_init(&a, 1024);
    require(target_parse(&again, &a, str_from(text)));
    require(target_same_host(t, &again) && t->port == again.port);
    require(str_equal(t->host, again.host));
    arena_done(&a);
}

static void check_answer(struct client *c)
{
    struct front_answer no = {.status = c->asked.status, .reason = c->asked.reason};
    size_t said = buf_len(&c->out), more;

    c->front->answer(&c->out, &no);
    more = buf_len(&c->out) - said;
    require(more == (c->front == &front_socks4 ? 8 : 10));
    require(buf_view(&c->out).p[said + 1] != (c->front == &front_socks4 ? 0x5a : 0));
}

static void compare(const struct client *a, const struct client *b)
{
    require(a->result == b->result && a->phase == b->phase);
    require(a->asked.reason == b->asked.reason);
    require(str_equal(buf_view(&a->in), buf_view(&b->in)));
    require(str_equal(buf_view(&a->out), buf_view(&b->out)));
    require(str_equal(a->asked.reply, b->asked.reply));
    require(str_equal(a->asked.raw, b->asked.raw));
    require(a->asked.target.kind == b->asked.target.kind);
    if (a->result == FRONT_DONE)
        require(target_same_host(&a->asked.target, &b->asked.target) &&
                a->asked.target.port == b->asked.target.port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct client whole, pieces;
    struct str sent = {(const char *)data + 1, size - 1};

    if (size < 2 || sent.n > IN_MAX)
        return 0;
    run(&whole, data[0], sent, sent.n);
    run(&pieces, data[0], sent, 1 + (data[0] >> 2) % 7);
    compare(&whole, &pieces);
    if (whole.result == FRONT_DONE)
        check_target(&whole.asked.target);
    if (whole.result == FRONT_REFUSED)
        check_answer(&whole);
    end(&whole);
    end(&pieces);
    return 0;
}
