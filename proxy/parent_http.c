/* CONNECT to a parent (RFC 9110 9.3.6). Its answer is told by the status line alone:
 * whatever the fields of a 2xx head say about lengths or closing, the tunnel begins
 * behind the empty line. A head that is not whole is no answer. Line ends are CR LF
 * without exception, so that there are no two opinions on where the head ends. */
#include "proxy/parent_talk.h"

enum {
    LINE = 0,    /* in a status line */
    LINE_LF,     /* behind its CR */
    FIELD_START, /* at the start of a line */
    FIELD,       /* within a field */
    FIELD_LF,    /* behind its CR */
    END_LF,      /* behind the CR of the empty line */
};

enum {
    INTERIM_MAX = 8,
    STATUS_AT = 9,        /* behind "HTTP/1.1 " */
    STATUS_LINE_MIN = 12, /* "HTTP/1.1 200" */
    ENDS = 4,             /* CR LF CR LF */
};

static void add_authority(struct buf *out, const struct target *to)
{
    bool v6 = to->kind == HOST_ADDR && to->ip.family == 6;

    buf_printf(out, v6 ? "[" STR_FMT "]:%u" : STR_FMT ":%u", STR_ARG(to->host),
               to->port);
}

static void start(struct parent_talk *t, struct buf *out)
{
    buf_add(out, STR("CONNECT "));
    add_authority(out, t->to);
    buf_add(out, STR(" HTTP/1.1\r\nHost: "));
    add_authority(out, t->to);
    if (t->parent->authorization.n > 0) {
        buf_add(out, STR("\r\nProxy-Authorization: "));
        buf_add(out, t->parent->authorization);
    }
    buf_add(out, STR("\r\n\r\n"));
}

/* The shortest way from here to the end of the head. */
static size_t need(const struct parent_talk *t)
{
    switch (t->stage) {
    case LINE:
        return t->line_len < STATUS_LINE_MIN ? STATUS_LINE_MIN - t->line_len + ENDS
                                             : ENDS;
    case LINE_LF:
    case FIELD_LF:
        return 3;
    case FIELD_START:
        return 2;
    case FIELD:
        return 4;
    default:
        return 1;
    }
}

static enum talk malformed(struct parent_talk *t, const char *what)
{
    return talk_fail(t, REASON_PARENT_FAILURE, "http_protocol_error",
                     "answered what is not HTTP: %s", what);
}

static bool is_control(char c)
{
    return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

static enum talk take_line_byte(struct parent_talk *t, char c)
{
    static const char prefix[] = "HTTP/1.";

    if (c == '\r') {
        t->stage = LINE_LF;
        return TALK_MORE;
    }
    if (is_control(c))
        return malformed(t, "a control character in the status line");
    if (t->line_len < sizeof prefix - 1 && c != prefix[t->line_len])
        return malformed(t, "it does not begin with \"HTTP/1.\"");
    if (t->line_len < sizeof t->line)
        t->line[t->line_len++] = c;
    return TALK_MORE;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* 0 when there is none. */
static unsigned status_of(const struct parent_talk *t)
{
    const char *line = t->line, *at = line + STATUS_AT;

    if (t->line_len < STATUS_LINE_MIN || !is_digit(line[STATUS_AT - 2]) ||
        line[STATUS_AT - 1] != ' ' ||
        (t->line_len > STATUS_LINE_MIN && line[STATUS_LINE_MIN] != ' '))
        return 0;
    if (!is_digit(at[0]) || !is_digit(at[1]) || !is_digit(at[2]))
        return 0;
    return (unsigned)(at[0] - '0') * 100 + (unsigned)(at[1] - '0') * 10 +
           (unsigned)(at[2] - '0');
}

static enum talk refused(struct parent_talk *t, unsigned status)
{
    struct str answer = {t->line + STATUS_AT, t->line_len - STATUS_AT};

    if (status == 407)
        return talk_fail(t, REASON_PARENT_REFUSED, "proxy_configuration_error", "%s",
                         t->parent->authorization.n > 0
                             ? "does not accept the credentials in its URL (407)"
                             : "wants credentials, and its URL has none (407)");
    return talk_fail(t, REASON_PARENT_REFUSED, "destination_unavailable",
                     "refused: " STR_FMT, STR_ARG(answer));
}

static enum talk head_done(struct parent_talk *t)
{
    unsigned status = status_of(t);

    if (status >= 200 && status < 300)
        return TALK_OPEN;
    if (status < 100 || status >= 200 || status == 101)
        return refused(t, status);
    if (++t->interim > INTERIM_MAX)
        return malformed(t, "too many answers that are none yet (1xx)");
    t->stage = LINE;
    t->line_len = 0;
    return TALK_MORE;
}

static enum talk expect_lf(struct parent_talk *t, char c, unsigned char stage)
{
    if (c != '\n')
        return malformed(t, "a CR without a LF");
    t->stage = stage;
    return TALK_MORE;
}

static enum talk take_field_byte(struct parent_talk *t, char c)
{
    if (c == '\r') {
        t->stage = t->stage == FIELD_START ? END_LF : FIELD_LF;
        return TALK_MORE;
    }
    t->stage = FIELD;
    return is_control(c) ? malformed(t, "a control character in a field") : TALK_MORE;
}

static enum talk take_byte(struct parent_talk *t, char c)
{
    switch (t->stage) {
    case LINE:
        return take_line_byte(t, c);
    case LINE_LF:
        if (status_of(t) == 0)
            return malformed(t, "no status in the first line");
        return expect_lf(t, c, FIELD_START);
    case FIELD_START:
    case FIELD:
        return take_field_byte(t, c);
    case FIELD_LF:
        return expect_lf(t, c, FIELD_START);
    default:
        return c == '\n' ? head_done(t) : malformed(t, "a CR without a LF");
    }
}

static enum talk feed(struct parent_talk *t, struct str in, struct buf *out)
{
    enum talk talk = TALK_MORE;

    (void)out;
    for (size_t i = 0; i < in.n && talk == TALK_MORE; i++) {
        if (++t->seen > TALK_HEADS_MAX)
            return talk_fail(
                t, REASON_PARENT_FAILURE, "http_response_header_section_size",
                "answered with a head of more than %d bytes", TALK_HEADS_MAX);
        talk = take_byte(t, in.p[i]);
    }
    return talk;
}

const struct talk_protocol talk_http = {start, need, feed, "http_response_incomplete"};
