/* What the load generator is to do, as its command line says it. */
#ifndef BENCH_LOAD_PLAN_H
#define BENCH_LOAD_PLAN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

enum load_mode {
    LOAD_OPEN = 0, /* connect, GET, close */
    LOAD_KEEP,     /* GET on connections that stay */
    LOAD_MESSAGE,  /* a message and its echo on connections that stay */
    LOAD_DOWN,     /* receive `bytes`, close */
    LOAD_UP,       /* send `bytes`, wait for the answer, close */
    LOAD_IDLE,     /* open all of them, then hold them without a byte */
};

enum load_way {
    LOAD_DIRECT = 0, /* to the target itself */
    LOAD_CONNECT,    /* HTTP CONNECT */
    LOAD_SOCKS5,     /* without login */
    LOAD_HTTP,       /* requests with an absolute URL; for LOAD_OPEN and LOAD_KEEP */
};

enum { LOAD_HOST_SIZE = 128, LOAD_AUTHORIZATION_SIZE = 512 };

struct load_plan {
    enum load_mode mode;
    enum load_way way;
    struct sockaddr_in proxy;  /* unused when the way is direct */
    struct sockaddr_in target; /* its address is 0.0.0.0 when `host` is a name */
    char host[LOAD_HOST_SIZE];
    const char
        *authorization;  /* of CONNECT, borrowed from the command line; NULL: none */
    bool unique;         /* each connection asks for a name of its own below `host` */
    unsigned long first; /* the number of the first of these */
    uint64_t connections;
    uint64_t bytes;      /* of one transfer */
    uint64_t operations; /* the end comes after so many, 0: no such end */
    uint64_t seconds;    /* or after so long */
    uint64_t rate;       /* operations started a second, 0: one after the other */
    bool slow;           /* a transfer reads or writes little at a time, with pauses */
};

/* Reads the command line; false after a message to standard error. */
bool load_plan_parse(struct load_plan *plan, int argc, char **argv);

#endif
