/* A name server for which every name exists: it answers A with one address and all else
 * with nothing. It costs little, and it cannot be what is measured.
 * usage: weir_bench_names ADDRESS:PORT ANSWER   (port 0 takes a free one and prints it)
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "bench/net.h"

/* RFC 1035, section 4.1: a head, the question as it came, perhaps one answer. */
enum {
    HEAD = 12,
    QUESTION_TAIL = 4, /* type and class, behind the name */
    TYPE_A = 1,
    ANSWER = 16,
    PACKET_MAX = 512,
    TTL = 60,
};

/* The length of the question's name with its last label, 0 when it is not one. */
static size_t name_len(const unsigned char *name, size_t size)
{
    size_t at = 0;

    while (at < size && name[at] != 0 && name[at] < 64)
        at += (size_t)name[at] + 1;
    return at < size && name[at] == 0 ? at + 1 : 0;
}

/* Turns the query in `p` into its answer; returns the length, 0 for none. */
static size_t answer(unsigned char p[PACKET_MAX], size_t len, struct in_addr addr)
{
    size_t name = len > HEAD ? name_len(p + HEAD, len - HEAD) : 0;
    size_t end = HEAD + name + QUESTION_TAIL;
    unsigned char record[ANSWER] = {0xc0, HEAD, 0, TYPE_A, 0, 1, 0, 0, 0, TTL, 0, 4};
    bool is_a;

    if (name == 0 || end > len || end + ANSWER > PACKET_MAX)
        return 0;
    is_a = p[end - 4] == 0 && p[end - 3] == TYPE_A;
    p[2] = 0x84 | (p[2] & 1); /* an answer, with authority */
    p[3] = 0x80;
    memset(p + 6, 0, 6);
    p[7] = is_a;
    if (!is_a)
        return end;
    memcpy(record + 12, &addr, sizeof addr);
    memcpy(p + end, record, ANSWER);
    return end + ANSWER;
}

static int bind_or_complain(const char *text)
{
    struct sockaddr_in addr;
    socklen_t len = sizeof addr;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char host[INET_ADDRSTRLEN];

    if (fd < 0 || !net_addr_parse(text, &addr) ||
        bind(fd, (struct sockaddr *)&addr, sizeof addr) != 0 ||
        getsockname(fd, (struct sockaddr *)&addr, &len) != 0) {
        fprintf(stderr, "weir_bench_names: %s: cannot listen there\n", text);
        return -1;
    }
    inet_ntop(AF_INET, &addr.sin_addr, host, sizeof host);
    printf("listening %s:%u\n", host, ntohs(addr.sin_port));
    fflush(stdout);
    return fd;
}

int main(int argc, char **argv)
{
    unsigned char packet[PACKET_MAX];
    struct in_addr addr;
    int fd;

    if (argc != 3 || inet_pton(AF_INET, argv[2], &addr) != 1) {
        fputs("usage: weir_bench_names ADDRESS:PORT ANSWER\n", stderr);
        return 2;
    }
    fd = bind_or_complain(argv[1]);
    if (fd < 0)
        return 1;
    for (;;) {
        struct sockaddr_in from;
        socklen_t from_len = sizeof from;
        ssize_t n =
            recvfrom(fd, packet, sizeof packet, 0, (struct sockaddr *)&from, &from_len);
        size_t len = n > 0 ? answer(packet, (size_t)n, addr) : 0;

        if (len > 0)
            sendto(fd, packet, len, 0, (struct sockaddr *)&from, from_len);
    }
}
