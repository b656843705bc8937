#include "proxy/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proxy/base/fd.h"

enum { FILE_MAX = 4096 };

static bool check_mode(const struct stat *st, struct err *e)
{
    if (!S_ISREG(st->st_mode))
        return err_set(e, "expected a regular file");
    if (st->st_uid != 0 && st->st_uid != geteuid())
        return err_set(e,
                       "it belongs to user %u; expected root, or the user who runs "
                       "the gateway",
                       st->st_uid);
    if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return err_set(e, "others than its owner may write it; see chmod go-w");
    if ((st->st_mode & S_IROTH) != 0)
        return err_set(e, "everybody may read it; see chmod o-r");
    if ((st->st_mode & S_IRGRP) != 0 && st->st_uid != 0)
        return err_set(e, "its group may read it, and it is not root's; see chmod g-r");
    return true;
}

/* A short file in one piece; *n is its length. */
static bool read_text(int fd, char text[FILE_MAX + 1], size_t *n, struct err *e)
{
    ssize_t got;

    *n = 0;
    do {
        got = read(fd, text + *n, FILE_MAX + 1 - *n);
        *n += got > 0 ? (size_t)got : 0;
    } while ((got > 0 && *n <= FILE_MAX) || (got < 0 && errno == EINTR));
    if (got < 0)
        return err_sys(e, "cannot read it");
    return *n <= FILE_MAX || err_set(e, "more than %d bytes", FILE_MAX);
}

static bool check_token(struct str token, struct err *e)
{
    for (size_t i = 0; i < token.n; i++)
        if (token.p[i] <= ' ' || token.p[i] > '~')
            return err_set(e, "a byte that is no printable ASCII, or a blank");
    if (token.n < TOKEN_MIN)
        return err_set(e, "%zu bytes can be guessed; expected %d at least", token.n,
                       TOKEN_MIN);
    return token.n <= TOKEN_MAX ||
           err_set(e, "%zu bytes; clients can send %d at most", token.n, TOKEN_MAX);
}

static bool take_line(struct str line, struct token tokens[TOKENS_MAX], size_t *count,
                      struct err *e)
{
    struct token token;

    if (str_ends(line, STR("\r")))
        line.n--;
    line = str_trim(line);
    if (line.n == 0)
        return true;
    if (*count == TOKENS_MAX)
        return err_set(e, "more than %d tokens", TOKENS_MAX);
    if (!check_token(line, e))
        return false;
    digest_of(line, token.digest);
    for (size_t i = 0; i < *count; i++)
        if (digest_equal(tokens[i].digest, token.digest))
            return err_set(e, "the same token twice");
    tokens[(*count)++] = token;
    return true;
}

static bool read_tokens(struct str text, struct token tokens[TOKENS_MAX], size_t *count,
                        struct err *e)
{
    *count = 0;
    for (unsigned line = 1; text.n > 0; line++)
        if (!take_line(str_cut(&text, '\n'), tokens, count, e))
            return err_wrap(e, "line %u", line);
    return *count > 0 || err_set(e, "no token in it");
}

static bool load(const char *path, struct token tokens[TOKENS_MAX], size_t *count,
                 struct err *e)
{
    /* Opening a FIFO must not wait for somebody to write. */
    autofd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char text[FILE_MAX + 1];
    struct stat st;
    size_t n;
    bool ok;

    if (fd < 0)
        return err_sys(e, "cannot open it");
    if (fstat(fd, &st) != 0)
        return err_sys(e, "cannot look at it");
    ok = check_mode(&st, e) && read_text(fd, text, &n, e) &&
         read_tokens((struct str){text, n}, tokens, count, e);
    explicit_bzero(text, sizeof text);
    return ok;
}

bool token_file_read(const char *path, struct token tokens[TOKENS_MAX], size_t *count,
                     struct err *e)
{
    return load(path, tokens, count, e) || err_wrap(e, "%s", path);
}
