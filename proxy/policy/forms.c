#include "proxy/policy/forms.h"

#include <assert.h>

static void add(struct forms *f, const uint8_t v4[4], int prefix)
{
    struct form *form = &f->form[f->count];

    assert(f->count < FORMS_MAX);
    f->count++;
    *form = (struct form){.ip.family = 4, .prefix = prefix};
    memcpy(form->ip.bytes, v4, 4);
}

static bool starts(const uint8_t *b, const uint8_t *prefix, size_t len)
{
    return memcmp(b, prefix, len) == 0;
}

/* RFC 6052 2.2: the address follows the prefix, leaving out bits 64 to 71. */
static void add_nat64(struct forms *f, const uint8_t b[16], unsigned bits, int prefix)
{
    uint8_t v4[4];
    size_t from = bits / 8;

    for (int i = 0; i < 4; i++, from++) {
        if (from == 8)
            from++;
        v4[i] = b[from];
    }
    add(f, v4, prefix);
}

static void add_teredo(struct forms *f, const uint8_t b[16])
{
    uint8_t client[4];

    for (int i = 0; i < 4; i++)
        client[i] = b[12 + i] ^ 0xff;
    add(f, client, FORM_NOT_CONFIGURED);
    add(f, b + 4, FORM_NOT_CONFIGURED);
}

/* The universal/local and group bits of the identifier may be set either way. */
static bool is_isatap(const uint8_t b[16])
{
    return (b[8] & 0xfc) == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe;
}

static void add_built_in(struct forms *f, const uint8_t b[16])
{
    /* :: and ::1 among them, which are addresses of their own as well. */
    static const uint8_t compatible[12];
    static const uint8_t translated[12] = {[8] = 0xff, [9] = 0xff};
    static const uint8_t well_known[12] = {0x00, 0x64, 0xff, 0x9b};
    static const uint8_t six_to_four[2] = {0x20, 0x02};
    static const uint8_t teredo[4] = {0x20, 0x01};

    if (starts(b, compatible, sizeof compatible) ||
        starts(b, translated, sizeof translated) ||
        starts(b, well_known, sizeof well_known))
        add(f, b + 12, FORM_NOT_CONFIGURED);
    if (starts(b, six_to_four, sizeof six_to_four))
        add(f, b + 2, FORM_NOT_CONFIGURED);
    if (starts(b, teredo, sizeof teredo))
        add_teredo(f, b);
    if (is_isatap(b))
        add(f, b + 12, FORM_NOT_CONFIGURED);
}

void forms_of(const struct ip *ip, const struct ip_range *nat64, size_t nat64_count,
              struct forms *out)
{
    static const uint8_t local_use[6] = {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01};
    struct ip a = *ip;
    bool configured = false;

    assert(nat64_count <= FORMS_NAT64_MAX);
    ip_unmap(&a);
    out->form[0] = (struct form){a, FORM_NOT_CONFIGURED};
    out->count = 1;
    out->is_unknown_nat64 = false;
    if (a.family != 6)
        return;
    for (size_t i = 0; i < nat64_count; i++) {
        if (ip_range_has(&nat64[i], &a)) {
            add_nat64(out, a.bytes, nat64[i].bits, (int)i);
            configured = true;
        }
    }
    add_built_in(out, a.bytes);
    if (starts(a.bytes, local_use, sizeof local_use) && !configured) {
        /* The usual length; a class found there is the better reason. */
        add_nat64(out, a.bytes, 96, FORM_NOT_CONFIGURED);
        out->is_unknown_nat64 = true;
    }
}
