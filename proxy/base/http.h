/* Heads of HTTP/1 messages: bytes to struct, on llhttp without a lenient flag. Strict:
 * what could be read two ways is an error (RFC 9112 3, 5, 6). */
#ifndef BASE_HTTP_H
#define BASE_HTTP_H

#include "proxy/base/arena.h"

enum {
    HTTP_FIELDS_MAX = 100, /* more is HTTP_TOO_LARGE */
    HTTP_TARGET_MAX = 8192,
};

struct http_field {
    struct str name, value; /* views into the arena */
};

struct http_head {
    struct str method, target; /* of a request: views into the arena; target as it was
                                * sent */
    struct str phrase;         /* of a response, as its status is; may be empty */
    unsigned status;           /* 100 to 999 */
    unsigned minor;            /* HTTP/1.minor: 0 or 1 */
    struct http_field *fields; /* in the arena, in the order sent */
    size_t field_count;
    bool has_body;             /* a Content-Length above 0, or a Transfer-Encoding */
    bool has_length, chunked;  /* what says how long it is; never both */
    unsigned long long length; /* when has_length */
};

enum http_parse {
    HTTP_MORE = 0,
    HTTP_DONE,
    HTTP_BAD,       /* answer 400 (to a response 502) and close */
    HTTP_TOO_LARGE, /* answer 431 (502) and close: more than `max` bytes, fields, or
                     * target */
};

/* `in` is everything from the first byte of the request on. On HTTP_DONE *head is
 * filled and *used is the length of the head; what follows is the caller's. `why` (may
 * be NULL) gets a constant sentence for HTTP_BAD. Parsing starts anew at each call:
 * `max` bounds the work. Leading empty lines are tolerated (RFC 9112 2.2), at most two.
 */
enum http_parse http_parse_request(struct str in, size_t max, struct arena *a,
                                   struct http_head *head, size_t *used,
                                   const char **why);

/* The same for a response; a body is read by http_body.h. Nothing may stand before the
 * status line. The fields are views into `in` itself, which outlives their use, and the
 * array is the caller's. */
enum http_parse http_parse_response(struct str in, size_t max,
                                    struct http_field fields[HTTP_FIELDS_MAX],
                                    struct http_head *head, size_t *used,
                                    const char **why);

/* The value of the field, NULL when there is none. Names compare without case. */
const struct str *http_get(const struct http_head *head, struct str name);
/* How often the field occurs. */
size_t http_count(const struct http_head *head, struct str name);
/* Whether a list (RFC 9110 5.6.1) has the token, in one of the fields of that name.
 * Without case. */
bool http_lists(const struct http_head *head, struct str name, struct str token);

#endif
