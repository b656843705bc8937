/* The vectors, group by group (README.md says what the lines mean). A group is a set of
 * lists with what is asked of them, and srt's answers. */
#ifndef ORACLE_VECTORS_H
#define ORACLE_VECTORS_H

#include <stdio.h>

#include "proxy/base/addr.h"
#include "proxy/base/arena.h"
#include "proxy/base/err.h"

enum {
    ENTRIES_MAX = 32,
    ASKS_MAX = 64,
    NAMES_MAX = 8,
    GROUP_TEXT_MAX = 64 * 1024,
};

/* Kinds: 'a' allowed, 'd' denied, 'r' deniedResolvedAddresses, 'i' an address of this
 * host, 'p' nat64Prefixes (which srt has not). */
struct entry {
    char kind;
    bool srt; /* accepted by srt */
    struct str text;
    bool ours;            /* filled in by policies.c */
    struct policy *alone; /* filled in by policies.c: a policy of this entry only */
};

/* A host and port that somebody asks for. */
struct ask {
    char form; /* 'C' authority of a CONNECT, 'R' a bare host and a number */
    struct str raw;
    unsigned port;        /* as srt reads it; 0 when it reads none */
    struct str canonical; /* the host that srt judges; empty when it judges none */
    bool unparsed;        /* srt's parser takes it for no host: judged as written */
    unsigned bits;        /* which entries of the group match, the first is bit 0 */
    unsigned meant;       /* which would, if srt made A-labels of its entries */
    char letter;          /* X no target, M malformed host, D A N as srt decides */
};

struct resolved {
    struct str text;
    struct ip ip;
    struct str letters; /* one for each name */
};

struct group {
    char kind; /* 'G' names, 'H' addresses */
    unsigned line;
    struct entry entries[ENTRIES_MAX];
    size_t entry_count;
    struct ask asks[ASKS_MAX];
    size_t ask_count;
    struct str names[NAMES_MAX]; /* host:port */
    size_t name_count;
    struct resolved addresses[ASKS_MAX];
    size_t address_count;
    struct arena text; /* holds every string */
};

struct reader {
    FILE *in;
    char *line; /* the next one, not used yet; NULL at the end */
    size_t size;
    unsigned number;
};

void reader_init(struct reader *r, FILE *in);
void reader_done(struct reader *r);

/* 1: a group is there; 0: the end; -1: *e says what is wrong with which line. */
int group_read(struct reader *r, struct group *g, struct err *e);
void group_done(struct group *g);

#endif
