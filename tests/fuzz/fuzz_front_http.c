/* What the front understands is a target that reads as it was written: asked for once
 * more by its own text it is the same. What it refuses has a status, a sentence and at
 * most 64 bytes of the request, and the answer is one whole response. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "proxy/base/http.h"
#include "proxy/front.h"

enum { HEAD_MAX = 4096, ARENA_SIZE = 16384, OUT_MAX = 8192, AUTHORITY_MAX = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void check_target(const struct target *t)
{
    char text[AUTHORITY_MAX];
    struct arena a;
    struct target again;

    for (size_t i = 0; i < t->host.n; i++)
        require(strchr("abcdefghijklmnopqrstuvwxyz0123456789._:-", t->host.p[i]) !=
                    NULL &&
                t->host.p[i] != '\0');
    snprintf(text, sizeof text, t->ip.family == 6 ? "[%s]:%u" : "%s:%u", t->host.p,
             t->port);
    arena_init(&a, 1024);
    require(target_parse(&again, &a, str_from(text)));
    require(target_same_host(t, &again) && t->port == again.port);
    arena_done(&a);
}

static void check_answer(const struct front_answer *answer)
{
    struct buf out;
    struct str said, body;
    const char *end, *length;

    buf_init(&out, OUT_MAX);
    front_http.answer(&out, answer);
    said = buf_view(&out);
    require(str_starts(said, STR("HTTP/1.1 ")));
    end = memmem(said.p, said.n, "\r\n\r\n", 4);
    length = memmem(said.p, said.n, "\r\nContent-Length: ", 18);
    require(end != NULL && length != NULL && length < end);
    body = str_skip(said, (size_t)(end + 4 - said.p));
    require(strtoul(length + 18, NULL, 10) == body.n);
    buf_done(&out);
}

/* A plain request is for a server: its target is in origin form. */
static void check_plain(const struct http_head *head)
{
    require(!str_equal(head->method, STR("CONNECT")));
    require(head->target.p[0] == '/' || str_equal(head->target, STR("*")));
    for (size_t i = 0; i < head->target.n; i++)
        require(strchr(" \t\r\n#\\", head->target.p[i]) == NULL);
}

/* The input as a reason for people, too. */
static void check_refusal(const struct front_asked *asked, struct str in)
{
    struct front_answer answer = {
        .status = asked->status, .reason = asked->reason, .why = str_from(asked->why)};

    require(asked->status >= 400 && asked->status < 600 && asked->why[0] != '\0');
    require(asked->raw.n <= 64);
    if (asked->target.kind != HOST_NONE)
        answer.target = &asked->target;
    check_answer(&answer);
    answer.why = in;
    check_answer(&answer);
    answer.status = 403;
    check_answer(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = {(const char *)data, size};
    struct front_asked asked;
    struct arena a;
    struct buf ssh;
    unsigned char phase = 0;
    struct front_call call = {
        .in = in, .head_max = HEAD_MAX, .arena = &a, .phase = &phase};
    size_t used = 0;

    arena_init(&a, ARENA_SIZE);
    switch (front_http.parse(&call, &asked, &used)) {
    case FRONT_MORE:
        require(size < HEAD_MAX);
        break;
    case FRONT_DONE:
        require(used > 0 && used <= size && asked.target.kind != HOST_NONE);
        if (asked.head == NULL)
            require(memmem(in.p, used, "CONNECT ", 8) != NULL);
        else
            check_plain(asked.head);
        check_target(&asked.target);
        break;
    case FRONT_REFUSED:
        require(used == 0);
        if (asked.target.kind != HOST_NONE)
            check_target(&asked.target);
        check_refusal(&asked, in);
        break;
    case FRONT_REPLY:
    case FRONT_LOGIN:
        require(false);
    }
    buf_init(&ssh, OUT_MAX);
    require(front_ssh_refusal(&ssh, in) && (buf_len(&ssh) - 14) % 8 == 0);
    buf_done(&ssh);
    arena_done(&a);
    return 0;
}
