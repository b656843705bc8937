/* The file with the token of a client: a line, or two while one takes over from the
 * other. What is kept of a token is its digest. */
#ifndef PROXY_TOKEN_FILE_H
#define PROXY_TOKEN_FILE_H

#include "proxy/base/err.h"
#include "tls/digest.h"

enum {
    TOKENS_MAX = 2,
    TOKEN_MIN = 16,  /* bytes: fewer can be guessed */
    TOKEN_MAX = 255, /* what SOCKS5 can carry (RFC 1929 2) */
};

struct token {
    uint8_t digest[DIGEST_SIZE];
};

/* Blanks around a token and empty lines do not count. The file must belong to root or
 * to the user who reads it, nobody else may write it, others may not read it, and its
 * group may only when it is root's. On false *e names the file and says why. */
bool token_file_read(const char *path, struct token tokens[TOKENS_MAX], size_t *count,
                     struct err *e);

#endif
