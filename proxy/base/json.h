/* JSON, read strictly: a scan of our own in front of cJSON (which by itself takes
 * trailing text, bad UTF-8, "01", duplicate keys, and cuts strings at \u0000).
 *
 * Settings may hold comments and trailing commas (JSON_SETTINGS); protocols may not
 * (JSON_PROTOCOL). Keys compare with case: use json_get(), never cJSON_GetObjectItem().
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <cjson/cJSON.h>

#include "proxy/base/err.h"
#include "proxy/base/str.h"

enum json_style { JSON_PROTOCOL = 0, JSON_SETTINGS };

enum {
    JSON_DEPTH_MAX = 32,
    JSON_TEXT_MAX = 64 * 1024 * 1024,
    JSON_NODES_MAX = 4 * 1024 * 1024, /* a node takes about 100 bytes */
};

struct json_doc; /* a tree, and where in the text each of its nodes stands */

/* On false *e says "line 3, column 7: ...". `text` is not kept. A byte order mark in
 * front is accepted in settings. */
bool json_parse(struct str text, enum json_style style, struct json_doc **out,
                struct err *e);
void json_free(struct json_doc **doc);

/* Owned by the document. */
const cJSON *json_root(const struct json_doc *doc);
/* Line from 1 of a node of this document; 0 when it is none of its. */
unsigned json_line(const struct json_doc *doc, const cJSON *node);

/* Case-sensitive; NULL when there is none or `object` is no object. */
const cJSON *json_get(const cJSON *object, const char *key);

/* Every key of `object` is one of `known` (NULL-terminated)? When not, *e names the key
 * and a near match, if one is near: "unknown key \"allowedHosts\" (did you mean
 * \"allowedDomains\"?)", and *bad is that node. */
bool json_only_keys(const cJSON *object, const char *const known[], const cJSON **bad,
                    struct err *e);

/* The near match alone: the nearest of `known` within a third of the length, rounded
 * up, in edits; NULL when none is near. */
const char *json_near(const char *word, const char *const known[]);

/* Writes a string with its quotes, escaped (RFC 8259 7), with all that shown.h does not
 * show as it is, since people read such lines too; bytes that are not UTF-8 become
 * U+FFFD. Returns the bytes written, or 0 when `size` is too small. */
size_t json_quote(struct str s, char *out, size_t size);

#endif
