#include "proxy/opening.h"

static const struct opening {
    unsigned char first;
    const struct front *front; /* NULL: not spoken here, and `why` */
    const char *form;          /* for the audit */
    const char *why;
} openings[] = {
    {4, &front_socks4, "socks4", NULL},
    {5, &front_socks5, "socks5", NULL},
    {22, NULL, "tls", "TLS to the proxy is not spoken here; name it with http://"},
};

/* No method begins with a byte of the table; and what is no method is for the HTTP
 * front to refuse. */
static const struct opening http = {.front = &front_http};

static const struct opening *opening_of(char first)
{
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++)
        if (openings[i].first == (unsigned char)first)
            return &openings[i];
    return &http;
}

const struct front *opening_front(char first)
{
    const struct opening *opening = opening_of(first);
    bool letter = (first | 0x20) >= 'a' && (first | 0x20) <= 'z';

    return opening == &http && !letter ? NULL : opening->front;
}

enum front_parse opening_parse(const struct front **front,
                               const struct front_call *call, struct front_asked *asked,
                               size_t *used)
{
    const struct opening *opening = opening_of(call->in.p[0]);

    if (*front == NULL && opening->front == NULL) {
        *asked = (struct front_asked){
            .form = opening->form,
            .status = 400,
            .reason = REASON_NOT_SUPPORTED,
            .why = opening->why,
        };
        return FRONT_REFUSED;
    }
    if (*front == NULL)
        *front = opening->front;
    return (*front)->parse(call, asked, used);
}
