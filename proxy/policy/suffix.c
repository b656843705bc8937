#include "proxy/policy/suffix.h"

#include <libpsl.h>
#include <stddef.h>

enum suffix suffix_of(const char *name)
{
    const psl_ctx_t *list = psl_builtin();

    if (list == NULL)
        return SUFFIX_PUBLIC;
    /* Nearly all names are no suffix, which one question tells. */
    if (!psl_is_public_suffix2(list, name, PSL_TYPE_ANY))
        return SUFFIX_NONE;
    return psl_is_public_suffix2(list, name, PSL_TYPE_ICANN) ? SUFFIX_PUBLIC
                                                             : SUFFIX_PRIVATE;
}
