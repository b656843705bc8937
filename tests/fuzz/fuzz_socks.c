/* A whole conversation in SOCKS: the first byte says whether a login is wanted, the
 * rest is what the client sends. Given at once or a byte at a time it means the same.
 */
#include <stdint.h>
#include <stdlib.h>

#include "proxy/front.h"

enum { ARENA_SIZE = 4096, TURNS_MAX = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct end {
    enum front_parse result;
    size_t used, replies, logins;
    unsigned port;
    enum reason reason;
    char host[HOST_NAME_MAX_LEN + 1];
};

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void note_end(struct end *end, const struct front_asked *asked)
{
    if (end->result == FRONT_DONE) {
        require(asked->target.kind != HOST_NONE && asked->target.port > 0);
        require(asked->target.host.n < sizeof end->host);
        memcpy(end->host, asked->target.host.p, asked->target.host.n);
        end->port = asked->target.port;
    } else if (end->result == FRONT_REFUSED) {
        require(asked->reply.n >= 2 && asked->why[0] != '\0' && asked->raw.n <= 64);
        end->reason = asked->reason;
    }
}

static enum front_parse parse(const struct front *front, struct str in, bool wanted,
                              unsigned char *phase, struct end *end, size_t *used)
{
    struct front_asked asked;
    struct arena a;
    struct front_call call = {.in = in,
                              .head_max = 1024,
                              .arena = &a,
                              .login_wanted = wanted,
                              .phase = phase};

    arena_init(&a, ARENA_SIZE);
    *used = 0;
    end->result = front->parse(&call, &asked, used);
    require(*used <= in.n);
    require((*used == 0) ==
            (end->result == FRONT_MORE || end->result == FRONT_REFUSED));
    end->replies += end->result == FRONT_REPLY;
    end->logins += end->result == FRONT_LOGIN;
    note_end(end, &asked);
    arena_done(&a);
    return end->result;
}

static struct end talk(const struct front *front, struct str in, bool wanted,
                       bool dripping)
{
    struct end end = {0};
    unsigned char phase = 0;
    size_t have = dripping && in.n > 0 ? 1 : in.n, used;

    for (;;) {
        if (have == 0 && in.n > 0)
            have = 1;
        if (have == 0)
            return end;
        switch (parse(front, str_head(in, have), wanted, &phase, &end, &used)) {
        case FRONT_MORE:
            if (have == in.n)
                return end;
            have++;
            break;
        case FRONT_REPLY:
        case FRONT_LOGIN:
            require(end.replies + end.logins < TURNS_MAX);
            in = str_skip(in, used);
            have = dripping ? 0 : in.n;
            end.used += used;
            break;
        default:
            end.used += used;
            return end;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct front *fronts[] = {&front_socks4, &front_socks5};
    struct str in = {(const char *)data + 1, size - 1};

    if (size < 2)
        return 0;
    for (size_t i = 0; i < 2; i++) {
        struct end whole = talk(fronts[i], in, data[0] & 1, false);
        struct end dripped = talk(fronts[i], in, data[0] & 1, true);

        require(whole.result == dripped.result && whole.used == dripped.used);
        require(whole.reason == dripped.reason && whole.port == dripped.port);
        require(strcmp(whole.host, dripped.host) == 0);
        require(whole.logins == dripped.logins && whole.replies == dripped.replies);
    }
    return 0;
}
