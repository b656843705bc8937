/* UTF-8, as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdint.h>

#include "proxy/base/str.h"

/* U+FEFF, with which some editors begin a file. */
#define UTF8_BOM STR("\xef\xbb\xbf")

/* Bytes of the first character of `s`, from 1 to 4; 0 when they are no character, or
 * when `s` is empty. */
size_t utf8_first(struct str s);

/* The number of the one character that `c` is. */
uint32_t utf8_decode(struct str c);

/* The first `max` bytes, or fewer: a character is never cut in two. */
struct str utf8_head(struct str s, size_t max);

/* Characters in `s`; a byte that belongs to none counts as one. */
size_t utf8_count(struct str s);

#endif
