#include "proxy/updates.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "proxy/base/buf.h"
#include "proxy/base/fd.h"
#include "proxy/base/json.h"

/* The end of a line, CR LF at most, is no part of the document. */
enum { READ_BYTES = 65536, END_BYTES = 2, FD_NUMBER_MAX = 999999999 };

struct updates {
    struct updates_hooks hooks;
    struct ev_loop *loop;
    ev_io readable;
    struct buf text;  /* of the line that is not whole yet */
    size_t looked_at; /* of `text`: no end of line is in there */
    unsigned long lines;
};

bool updates_take(const char *number, int *fd, struct err *e)
{
    unsigned value;

    if (!str_to_uint(str_from(number), FD_NUMBER_MAX, &value) ||
        value < UPDATES_FD_FIRST)
        return err_set(e,
                       "\"%.32s\": expected the number of an open descriptor, %d or "
                       "higher",
                       number, UPDATES_FD_FIRST);
    /* Nothing is read, but what could not be is told. */
    if (read((int)value, NULL, 0) != 0)
        return err_sys(e, "descriptor %u cannot be read", value);
    *fd = fcntl((int)value, F_DUPFD_CLOEXEC, UPDATES_FD_FIRST);
    if (*fd < 0)
        return err_sys(e, "descriptor %u cannot be kept", value);
    close((int)value);
    return true;
}

static void close_channel(struct updates *u)
{
    int fd = u->readable.fd;

    if (fd < 0)
        return;
    ev_io_stop(u->loop, &u->readable);
    ev_io_set(&u->readable, -1, EV_READ);
    fd_close(&fd);
}

static void lose(struct updates *u, const char *why)
{
    close_channel(u);
    u->hooks.lost(u->hooks.owner, u->lines, why);
}

static void take_line(struct updates *u, struct str line)
{
    u->lines++;
    if (str_ends(line, STR("\r")))
        line.n--;
    if (str_trim(line).n > 0)
        u->hooks.line(u->hooks.owner, u->lines, line);
}

/* Each byte is looked at once, however small the pieces are in which a line comes. */
static void take_lines(struct updates *u)
{
    struct str text = buf_view(&u->text);
    const char *end;

    while ((end = memchr(text.p + u->looked_at, '\n', text.n - u->looked_at)) != NULL) {
        size_t length = (size_t)(end - text.p);

        take_line(u, str_head(text, length));
        buf_drain(&u->text, length + 1);
        u->looked_at = 0;
        text = buf_view(&u->text);
    }
    u->looked_at = text.n;
}

static void end(struct updates *u)
{
    close_channel(u);
    if (buf_len(&u->text) > 0)
        take_line(u, buf_view(&u->text));
    buf_done(&u->text);
}

static void on_readable(struct ev_loop *loop, ev_io *w, int events)
{
    struct updates *u = w->data;
    size_t room;
    char *into = buf_tail(&u->text, READ_BYTES, &room);
    ssize_t n;

    (void)loop, (void)events;
    if (room == 0) {
        lose(u, "a line is longer than a settings document may be");
        return;
    }
    n = read(w->fd, into, room);
    if (n > 0) {
        buf_filled(&u->text, (size_t)n);
        take_lines(u);
    } else if (n == 0) {
        end(u);
    } else if (errno != EAGAIN && errno != EINTR) {
        lose(u, strerror(errno));
    }
}

struct updates *updates_new(struct ev_loop *loop, int fd,
                            const struct updates_hooks *hooks)
{
    struct updates *u = calloc(1, sizeof *u);

    if (u == NULL)
        abort();
    u->hooks = *hooks;
    u->loop = loop;
    buf_init(&u->text, JSON_TEXT_MAX + END_BYTES);
    ev_io_init(&u->readable, on_readable, fd, EV_READ);
    u->readable.data = u;
    ev_io_start(loop, &u->readable);
    return u;
}

void updates_free(struct updates **u)
{
    struct updates *mine = *u;

    if (mine == NULL)
        return;
    close_channel(mine);
    buf_done(&mine->text);
    free(mine);
    *u = NULL;
}
