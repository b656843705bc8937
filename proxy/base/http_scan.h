/* What the heads of requests and responses have in common: lines, fields, and what they
 * say about the length of the body. For http.c and http_response.c. */
#ifndef BASE_HTTP_SCAN_H
#define BASE_HTTP_SCAN_H

#include "proxy/base/http.h"

enum http_kind { HTTP_KIND_REQUEST, HTTP_KIND_RESPONSE };

struct http_span {
    size_t at, len; /* relative to the first byte of the head */
};

struct http_scan {
    const char *start;
    struct http_span names[HTTP_FIELDS_MAX], values[HTTP_FIELDS_MAX];
    size_t count;
    bool too_many;
};

/* HTTP_BAD, with its sentence. */
enum http_parse http_bad(const char **why, const char *text);

/* What of `in` belongs to the head: all of it as long as no empty line is there. */
struct str http_cut_head(struct str in, bool *whole);

/* A long head that drips in is looked at only when one of its lines ends; at every byte
 * the work would grow with the square of the length. */
bool http_is_within_line(struct str text);

/* NULL when each CR and LF stands in a pair, no line is folded, and no other control
 * byte but a tab is there. A CR at the very end may still get its LF. */
const char *http_wrong_byte(struct str head);

/* Runs llhttp over what is there of the head; `whole` when that is all of it. */
enum http_parse http_scan_fields(struct str head, bool whole, enum http_kind kind,
                                 struct http_scan *s, const char **why);

/* `text` is what was scanned, or a copy of it: the fields are views into it. */
void http_scan_copy(const struct http_scan *s, struct str text,
                    struct http_field *fields);

/* How long the body is must be said once and in one way (RFC 9112 6.1, 6.3). Sets
 * has_body, has_length, length and chunked; NULL when that is sound. */
const char *http_wrong_framing(struct http_head *head);

#endif
