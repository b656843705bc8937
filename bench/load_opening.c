#include "bench/load_opening.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { SOCKS_VERSION = 5, SOCKS_IPV4 = 1, SOCKS_NAME = 3, SOCKS_ANSWER = 10 };

static int host_text(const struct load_plan *plan, unsigned long number, char *text,
                     size_t size)
{
    if (plan->unique)
        return snprintf(text, size, "n%lu.%s", number, plan->host);
    return snprintf(text, size, "%s", plan->host);
}

static size_t say_connect(const struct load_plan *plan, unsigned long number,
                          char *text)
{
    unsigned port = ntohs(plan->target.sin_port);
    char host[LOAD_HOST_SIZE + 24];
    bool login = plan->authorization != NULL;

    host_text(plan, number, host, sizeof host);
    return (size_t)snprintf(text, LOAD_TEXT_SIZE,
                            "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n%s%s%s\r\n", host,
                            port, host, port, login ? "Proxy-Authorization: " : "",
                            login ? plan->authorization : "", login ? "\r\n" : "");
}

/* RFC 1928, section 4. */
static size_t say_socks(const struct load_plan *plan, unsigned long number, char *text)
{
    size_t len;

    memcpy(text, "\5\1\0", 3);
    if (plan->target.sin_addr.s_addr != 0) {
        text[3] = SOCKS_IPV4;
        memcpy(text + 4, &plan->target.sin_addr, 4);
        len = 8;
    } else {
        text[3] = SOCKS_NAME;
        len = 5 + (size_t)host_text(plan, number, text + 5, LOAD_TEXT_SIZE - 8);
        text[4] = (char)(len - 5);
    }
    memcpy(text + len, &plan->target.sin_port, 2);
    return len + 2;
}

size_t load_opening_say(const struct load_plan *plan, unsigned step,
                        unsigned long number, char text[LOAD_TEXT_SIZE])
{
    if (plan->way == LOAD_CONNECT && step == 0)
        return say_connect(plan, number, text);
    if (plan->way != LOAD_SOCKS5 || step > 1)
        return 0;
    if (step == 1)
        return say_socks(plan, number, text);
    memcpy(text, "\5\1\0", 3); /* RFC 1928, section 3: no login is offered */
    return 3;
}

static enum load_opening hear_connect(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");

    if (end == NULL)
        return OPENING_MORE;
    return strncmp(answer, "HTTP/1.", 7) == 0 && strncmp(answer + 8, " 200", 4) == 0 &&
                   end[4] == '\0'
               ? OPENING_DONE
               : OPENING_BAD;
}

static enum load_opening hear_socks(unsigned step, const char *answer, size_t len)
{
    if (len < 2)
        return OPENING_MORE;
    if (answer[0] != SOCKS_VERSION || answer[1] != 0)
        return OPENING_BAD;
    if (step == 0)
        return len == 2 ? OPENING_NEXT : OPENING_BAD;
    if (len < SOCKS_ANSWER)
        return OPENING_MORE;
    return len == SOCKS_ANSWER && answer[3] == SOCKS_IPV4 ? OPENING_DONE : OPENING_BAD;
}

enum load_opening load_opening_hear(const struct load_plan *plan, unsigned step,
                                    const char *answer, size_t len)
{
    return plan->way == LOAD_CONNECT ? hear_connect(answer)
                                     : hear_socks(step, answer, len);
}

size_t load_request(const struct load_plan *plan, unsigned long number,
                    char text[LOAD_TEXT_SIZE])
{
    unsigned port = ntohs(plan->target.sin_port);
    char host[LOAD_HOST_SIZE + 24], url[LOAD_HOST_SIZE + 48] = "";

    host_text(plan, number, host, sizeof host);
    if (plan->way == LOAD_HTTP)
        snprintf(url, sizeof url, "http://%s:%u", host, port);
    return (size_t)snprintf(text, LOAD_TEXT_SIZE,
                            "GET %s/ HTTP/1.1\r\nHost: %s:%u\r\n\r\n", url, host, port);
}
