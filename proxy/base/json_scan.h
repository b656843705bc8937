/* The strict half of json.h: says whether a text is JSON as we take it, and where in it
 * each value begins. Makes no tree. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include <stdint.h>

#include "proxy/base/json.h"

/* Where a value begins (for a member of an object: its key). */
struct json_place {
    const cJSON *node; /* filled in by json.c */
    uint32_t offset, line;
};

/* In document order: a value, then what it holds. */
struct json_places {
    struct json_place *list; /* for free() */
    size_t count, size;
};

/* `clean` is a copy of the text, in which comments and trailing commas are blanked so
 * that cJSON can read it; NULL for JSON_PROTOCOL, which has none. *places is filled and
 * is the caller's, also on false. */
bool json_scan(struct str text, enum json_style style, char *clean,
               struct json_places *places, struct err *e);

/* Puts "line 3, column 7" in front; columns are counted in characters, from 1. */
bool json_scan_wrap(struct str text, size_t offset, struct err *e);

#endif
