#include "proxy/front_socks.h"

#include "proxy/front_raw.h"

enum front_parse socks_refuse(struct front_asked *asked, enum reason reason,
                              const char *why, struct str reply)
{
    asked->status = 400;
    asked->reason = reason;
    asked->why = why;
    asked->reply = reply;
    return FRONT_REFUSED;
}

bool socks_set_name(struct front_asked *asked, struct arena *a, struct str host,
                    unsigned port)
{
    bool six = host.n > 0 && memchr(host.p, ':', host.n) != NULL;

    if (target_set(&asked->target, a, host, six, port))
        return true;
    asked->raw = front_raw(a, host);
    return false;
}

bool socks_set_address(struct front_asked *asked, struct arena *a, struct str bytes,
                       unsigned port)
{
    struct ip ip = {.family = bytes.n == 4 ? 4 : 6};
    char text[IP_TEXT_MAX];

    memcpy(ip.bytes, bytes.p, bytes.n);
    return socks_set_name(asked, a, str_from(ip_text(&ip, text)), port);
}
