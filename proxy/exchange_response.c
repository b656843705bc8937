#include "proxy/exchange_response.h"

/* Interim answers that came just before are dropped with it: none of them has been sent
 * in part, or nothing would have been read. */
static enum exchange_status bad(struct exchange *x, const char *error, const char *why)
{
    if (!x->responded)
        buf_done(&x->to_client);
    return exchange_fail(x, 502, REASON_BAD_RESPONSE, error, why);
}

/* RFC 9110 9.3.1, 9.3.2, 9.3.7: such a body has no meaning, and a server that does not
 * look for it takes it for the next request. The answer to that would be the one to
 * another client's. */
static bool body_may_be_a_request(const struct http_head *request)
{
    return request->has_body && (str_equal(request->method, STR("GET")) ||
                                 str_equal(request->method, STR("HEAD")) ||
                                 str_equal(request->method, STR("OPTIONS")));
}

/* RFC 9110 8.6, RFC 9112 6.1: no server may say so, and one that does may send it. */
static bool says_body_where_none_is(const struct http_head *head)
{
    return head->has_body && (head->status < 200 || head->status == 204);
}

/* A connection on which anything is unclear is never used for another request. */
static bool server_may_stay(const struct exchange *x, const struct http_head *head,
                            const struct hops *hops)
{
    return head->minor == 1 && !hops_named(hops, STR("close")) &&
           x->down.framing != HTTP_FRAMING_CLOSE && !says_body_where_none_is(head) &&
           !body_may_be_a_request(&x->request);
}

/* A server that answers before it has the whole request may not know that there is a
 * body, and take what comes for the next request. */
static bool has_sent_all(const struct exchange *x)
{
    return x->up.done && buf_len(&x->to_server) == 0;
}

/* A client that waits for a 100 and gets something else sends no body, or sends it
 * nevertheless: what comes next could be either. */
static bool client_may_stay(const struct exchange *x, bool server_stays)
{
    return !x->last && !(x->expects && !x->up.done) && (server_stays || x->up.done);
}

/* The body as the client gets it. To HTTP/1.0 one without a length ends with the
 * connection; to others it can be said where it ends, and so that nothing is missing.
 */
static enum http_framing framing_for_client(const struct exchange *x)
{
    if (x->down.framing == HTTP_FRAMING_NONE || x->down.framing == HTTP_FRAMING_LENGTH)
        return x->down.framing;
    return x->request.minor == 0 ? HTTP_FRAMING_CLOSE : HTTP_FRAMING_CHUNKED;
}

static enum exchange_status answer_head(struct exchange *x,
                                        const struct http_head *head,
                                        const struct rewrite_answer *answer)
{
    struct hops hops;

    if (!hops_read(&hops, head))
        return bad(x, "http_protocol_error",
                   "the Connection field of the answer names too much");
    if (!rewrite_response(&x->to_client, head, &hops, answer))
        return bad(x, "http_response_header_section_size",
                   "the head of the answer is too large");
    return EXCHANGE_GOES_ON;
}

static enum exchange_status take_final(struct exchange *x, const struct http_head *head)
{
    struct rewrite_answer answer = {.keep = false};
    enum exchange_status status;
    struct hops hops;
    bool stays;

    x->down = http_body_of_response(head, x->request.method);
    stays = hops_read(&hops, head) && server_may_stay(x, head, &hops);
    x->keep_server = stays && has_sent_all(x);
    x->keep_client = client_may_stay(x, stays);
    answer.framing = framing_for_client(x);
    answer.keep = x->keep_client;
    answer.bodiless_length =
        x->down.framing == HTTP_FRAMING_NONE && head->status != 204;
    status = answer_head(x, head, &answer);
    if (status != EXCHANGE_GOES_ON)
        return status;
    x->rechunk = answer.framing == HTTP_FRAMING_CHUNKED;
    x->responded = true;
    x->websocket = false;
    return EXCHANGE_GOES_ON;
}

/* RFC 9110 15.2: all of them are passed on, though not to HTTP/1.0. */
static enum exchange_status take_interim(struct exchange *x,
                                         const struct http_head *head)
{
    const struct rewrite_answer answer = {.keep = true};

    if (++x->interim > EXCHANGE_INTERIM_MAX)
        return bad(x, "http_protocol_error",
                   "the server sends 1xx answers without end");
    if (says_body_where_none_is(head))
        return bad(x, "http_protocol_error", "an answer that is none yet says a body");
    if (head->status == 100)
        x->expects = false;
    if (x->request.minor == 0)
        return EXCHANGE_GOES_ON;
    return answer_head(x, head, &answer);
}

static enum exchange_status take_switch(struct exchange *x,
                                        const struct http_head *head)
{
    const struct rewrite_answer answer = {.keep = true, .websocket = true};
    const struct str *to = http_get(head, STR("Upgrade"));
    enum exchange_status status;

    if (!x->websocket || to == NULL || !str_equal_nocase(*to, STR("websocket")))
        return bad(x, "http_upgrade_failed",
                   "the server switches to a protocol that was not asked for");
    status = answer_head(x, head, &answer);
    if (status != EXCHANGE_GOES_ON)
        return status;
    x->responded = true;
    x->down = (struct http_body){.done = true};
    return EXCHANGE_GOES_ON;
}

static enum exchange_status take_head(struct exchange *x, const struct http_head *head)
{
    if (head->status == 101)
        return take_switch(x, head);
    if (head->status < 200)
        return take_interim(x, head);
    /* It would look as if this proxy wanted credentials, or others. */
    if (head->status == 407)
        return bad(x, "http_protocol_error",
                   "the server answers 407, as only a proxy may; a parent proxy may "
                   "not know the credentials that it was given");
    return take_final(x, head);
}

static enum exchange_status tell(struct exchange *x, struct str bytes)
{
    if (exchange_send(x, x->client, &x->to_client, bytes, &x->bytes_down))
        return EXCHANGE_GOES_ON;
    x->client_ended = true;
    return EXCHANGE_CUT;
}

/* The first bytes of a tunnel go as they are. */
static enum exchange_status take_body(struct exchange *x, char *bytes, size_t n)
{
    size_t used = n, len = n;
    struct str piece;

    if (!x->websocket && !http_body_take(&x->down, bytes, n, &used, &len))
        return EXCHANGE_CUT;
    /* Who says more than it was asked for says what nobody should read as an answer. */
    if (used < n)
        x->keep_server = false;
    piece =
        x->rechunk ? http_chunk(bytes, len, x->down.done) : (struct str){bytes, len};
    return tell(x, piece);
}

/* Heads in `seen`, up to the last one or to where more is needed. *used of it were
 * heads. */
static enum exchange_status take_heads(struct exchange *x, struct str seen,
                                       size_t *used)
{
    struct http_field fields[HTTP_FIELDS_MAX];
    enum exchange_status status = EXCHANGE_GOES_ON;
    struct http_head head;
    const char *why = "";
    size_t n;

    while (status == EXCHANGE_GOES_ON && !x->responded) {
        struct str rest = str_skip(seen, *used);

        switch (http_parse_response(rest, EXCHANGE_HEAD_MAX, fields, &head, &n, &why)) {
        case HTTP_MORE:
            return EXCHANGE_GOES_ON;
        case HTTP_BAD:
            return bad(x, "http_protocol_error", why);
        case HTTP_TOO_LARGE:
            return bad(x, "http_response_header_section_size",
                       "the head of the answer is too large");
        case HTTP_DONE:
            *used += n;
            status = take_head(x, &head);
        }
    }
    return status;
}

/* Nearly always the head is in one piece, and then it is read where it lies. */
static enum exchange_status take_response(struct exchange *x, char *bytes, size_t n)
{
    struct str seen = {bytes, n};
    enum exchange_status status;
    size_t used = 0;
    bool kept = buf_len(&x->head) > 0;

    if (kept && !buf_add(&x->head, seen))
        return bad(x, "http_response_header_section_size",
                   "the head of the answer is too large");
    if (kept)
        seen = buf_view(&x->head);
    status = take_heads(x, seen, &used);
    if (status != EXCHANGE_GOES_ON)
        return status;
    if (!x->responded) {
        /* Interim heads are the client's already. */
        if (kept)
            buf_drain(&x->head, used);
        else
            buf_add(&x->head, str_skip(seen, used));
        return tell(x, (struct str){NULL, 0});
    }
    seen = str_skip(seen, used);
    memmove(bytes, seen.p, seen.n);
    buf_done(&x->head);
    return take_body(x, bytes, seen.n);
}

static enum exchange_status server_ended(struct exchange *x)
{
    enum exchange_status status;

    if (x->responded) {
        x->keep_server = false;
        return http_body_end(&x->down) ? take_body(x, exchange_place(x), 0)
                                       : EXCHANGE_CUT;
    }
    status = bad(x, "http_response_incomplete",
                 "the server closed the connection before it had answered");
    x->failure.stale = !x->heard;
    return status;
}

enum exchange_status exchange_listen(struct exchange *x)
{
    char *bytes = exchange_place(x);
    enum exchange_status status;
    size_t n;

    switch (stream_read(x->server, bytes, exchange_may_read(x), &n)) {
    case IO_AGAIN:
        return EXCHANGE_GOES_ON;
    case IO_EOF:
        return server_ended(x);
    case IO_ERROR:
        status = bad(x, "connection_terminated",
                     "the connection to the server broke before it had answered");
        x->failure.stale = !x->heard;
        return status;
    case IO_OK:
        break;
    }
    x->heard = true;
    x->moved = ev_now(x->room->relays->loop);
    return x->responded ? take_body(x, bytes, n) : take_response(x, bytes, n);
}
