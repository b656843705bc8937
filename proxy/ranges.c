#include "proxy/ranges.h"

#include <stdlib.h>

/* Addresses are unmapped before they are looked for, so a range of mapped ones would
 * hold none. */
static bool is_mapped(const struct ip_range *r)
{
    struct ip ip = r->ip;

    ip_unmap(&ip);
    return r->ip.family == 6 && ip.family == 4;
}

static bool parse(struct str text, struct ip_range *out, struct err *e)
{
    if (!ip_range_parse(text, false, out)) {
        if (ip_range_parse(text, true, out))
            return err_set(e, "\"%.60s\": there are bits set beyond the prefix",
                           text.p);
        return err_set(e,
                       "\"%.60s\": expected an address or a range, as in "
                       "\"10.1.0.0/16\" or \"2001:db8::/32\"",
                       text.p);
    }
    return !is_mapped(out) ||
           err_set(e, "\"%.60s\": write it as IPv4, which is what it is", text.p);
}

static bool is_repeated(const struct ip_range *ranges, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (ranges[i].bits == ranges[index].bits &&
            ip_equal(&ranges[i].ip, &ranges[index].ip))
            return true;
    return false;
}

static bool read_one(const cJSON *node, struct ip_range *ranges, size_t index,
                     struct err *e)
{
    const char *text = keys_text(node);

    if (index == RANGES_MAX)
        return err_set(e, "more than %d entries", RANGES_MAX);
    if (text == NULL)
        return err_set(e, "expected a string");
    if (!parse(str_from(text), &ranges[index], e))
        return false;
    return !is_repeated(ranges, index) ||
           err_set(e, "\"%.60s\" is in the list already", text);
}

bool ranges_read(const struct keys_file *file, const cJSON *list, const char *place,
                 struct ip_range **out, size_t *count, struct err *e)
{
    struct ip_range *ranges;
    const cJSON *node;
    size_t i = 0;

    if (!keys_is_list(file, list, place, "address or range", e))
        return false;
    ranges = calloc((size_t)cJSON_GetArraySize(list), sizeof *ranges);
    if (ranges == NULL)
        abort();
    cJSON_ArrayForEach(node, list) {
        if (!read_one(node, ranges, i, e)) {
            free(ranges);
            return keys_wrong(file, node, e, "%s[%zu]", place, i);
        }
        i++;
    }
    *out = ranges;
    *count = i;
    return true;
}

bool ranges_have(const struct ip_range *ranges, size_t count, const struct ip *ip)
{
    struct ip plain = *ip;

    ip_unmap(&plain);
    for (size_t i = 0; plain.family != 0 && i < count; i++)
        if (ip_range_has(&ranges[i], &plain))
            return true;
    return false;
}
