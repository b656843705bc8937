#include "proxy/policy/suffix.h"

#include <libpsl.h>
#include <stddef.h>

enum suffix suffix_of(const char *name)
{
    const psl_ctx_t *list = psl_builtin();

    if (list == NULL || psl_is_public_suffix2(list, name, PSL_TYPE_ICANN))
        return SUFFIX_PUBLIC;
    /* The rule "*" (an unknown top-level domain) belongs to the test above. */
    if (psl_is_public_suffix2(list, name, PSL_TYPE_PRIVATE | PSL_TYPE_NO_STAR_RULE))
        return SUFFIX_PRIVATE;
    return SUFFIX_NONE;
}
