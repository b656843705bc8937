#include "bench/ref_request.h"

#include <stdio.h>
#include <string.h>

#include "bench/net.h"

enum { SOCKS_VERSION = 5, SOCKS_IPV4 = 1, SOCKS_LEN = 10 };

/* RFC 1928, sections 3 and 4. */
static enum ref_request parse_socks(const char *text, size_t len, bool methods_done,
                                    struct sockaddr_in *addr)
{
    if (!methods_done)
        return len < 2 || len < 2 + (size_t)(unsigned char)text[1] ? REF_MORE
                                                                   : REF_METHODS;
    if (len < SOCKS_LEN)
        return REF_MORE;
    if (text[1] != 1 || text[3] != SOCKS_IPV4)
        return REF_BAD;
    *addr = (struct sockaddr_in){.sin_family = AF_INET};
    memcpy(&addr->sin_addr, text + 4, sizeof addr->sin_addr);
    memcpy(&addr->sin_port, text + 8, sizeof addr->sin_port);
    return REF_SOCKS;
}

/* The host and port that begin at `text` and end before one of `ends`. */
static bool parse_place(const char *text, const char *ends, struct sockaddr_in *addr)
{
    char place[32];
    size_t len = strcspn(text, ends);

    if (len >= sizeof place)
        return false;
    snprintf(place, sizeof place, "%.*s", (int)len, text);
    return net_addr_parse(place, addr);
}

enum ref_request ref_request_parse(const char *text, size_t len, bool methods_done,
                                   struct sockaddr_in *addr)
{
    static const char connect[] = "CONNECT ", get[] = "GET http://";

    if (text[0] == SOCKS_VERSION)
        return parse_socks(text, len, methods_done, addr);
    if (strstr(text, "\r\n\r\n") == NULL)
        return REF_MORE;
    if (strncmp(text, connect, sizeof connect - 1) == 0)
        return parse_place(text + sizeof connect - 1, " ", addr) ? REF_CONNECT
                                                                 : REF_BAD;
    if (strncmp(text, get, sizeof get - 1) == 0)
        return parse_place(text + sizeof get - 1, "/", addr) ? REF_GET : REF_BAD;
    return REF_BAD;
}
