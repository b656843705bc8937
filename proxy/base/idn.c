#include "proxy/base/idn.h"

#include <idn2.h>

/* Every character of a label that fits takes at least a quarter of a byte of its
 * A-label; what is longer than this is refused before any table is asked. */
enum { INPUT_MAX = 4 * IDN_LABEL_SIZE };

static bool take(const char *ascii, char out[IDN_LABEL_SIZE])
{
    size_t len = strlen(ascii);

    if (len == 0 || len >= IDN_LABEL_SIZE || strchr(ascii, '.') != NULL)
        return false;
    memcpy(out, ascii, len + 1);
    return true;
}

bool idn_to_ascii(struct str label, char out[IDN_LABEL_SIZE])
{
    char z[INPUT_MAX + 1];
    char *ascii = NULL;
    bool fits;

    if (label.n == 0 || label.n > INPUT_MAX || memchr(label.p, '\0', label.n) != NULL)
        return false;
    memcpy(z, label.p, label.n);
    z[label.n] = '\0';
    if (idn2_to_ascii_8z(z, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK)
        return false;
    fits = take(ascii, out);
    idn2_free(ascii);
    return fits;
}
