/* Keys that stand twice in one object: which of the two counts depends on the reader,
 * so neither does (RFC 8259 4). Private to json.c. */
#ifndef BASE_JSON_UNIQUE_H
#define BASE_JSON_UNIQUE_H

#include <cjson/cJSON.h>

/* The first member, in document order of its object, whose key was there before; NULL
 * when there is none anywhere below `root`. *first is the other one. Linear time. */
const cJSON *json_duplicate(const cJSON *root, const cJSON **first);

#endif
