/* A name server's answer: bytes to addresses (RFC 1035 4). Strict where it matters:
 * only records that the question's name leads to, over CNAME records of the same
 * message, are taken; everything else in it might be put there by whoever owns another
 * name. */
#ifndef DNS_MESSAGE_H
#define DNS_MESSAGE_H

#include "dns/answer.h"

enum {
    MESSAGE_RECORDS_MAX = 256, /* answer records that are looked at */
    MESSAGE_CNAMES_MAX = 16,   /* steps of a chain; more is malformed */
};

enum message_type { MESSAGE_A = 1, MESSAGE_AAAA = 28 };

/* Adds the addresses to *into and lowers into->ttl to the lowest of the records on the
 * way. False, with *into as it was, when the message is no whole, successful answer to
 * that question. No addresses is no error. */
bool message_parse(const uint8_t *bytes, size_t len, const char *name,
                   enum message_type type, struct answer *into);

#endif
