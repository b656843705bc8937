/* A name server in the test's own loop, on UDP and TCP of one port. It says what it was
 * told to say, also what no honest server would, and counts. */
#ifndef SUPPORT_DNS_SCRIPT_H
#define SUPPORT_DNS_SCRIPT_H

#include <ev.h>

enum dns_trick {
    DNS_PLAIN = 0,
    DNS_DROP,          /* no answer */
    DNS_TRUNCATE,      /* over UDP only the word that it did not fit */
    DNS_TRUNCATE_EVER, /* over TCP too */
    DNS_WRONG_ID,      /* a forged answer with another id comes first */
    DNS_WRONG_NAME,    /* a forged answer to another question comes first */
    DNS_EMPTY_FIRST,   /* a packet of no bytes comes first */
    DNS_FOREIGN,       /* the addresses are those of another name */
    DNS_CUT,           /* the message ends in the middle of a record */
    DNS_NO_QUESTION,   /* the answer does not repeat the question */
    DNS_UNSORTED,      /* CNAME records come last */
};

/* What is said to questions for a name and type. */
struct dns_reply {
    const char *name;
    int type; /* 1 or 28; 0: both */
    enum dns_trick trick;
    int rcode; /* 2 SERVFAIL, 3 NXDOMAIN */
    unsigned ttl;
    const char *cname[4]; /* a chain; the addresses are at its end */
    const char *ips[8];   /* those of the question's family are said */
    unsigned many;        /* beside them: so many of 198.51.100.0/24 or 2001:db8::/64 */
};

struct dns_script;

/* At 127.0.0.1 and any port. Questions for unknown names get NXDOMAIN. */
struct dns_script *dns_script_new(struct ev_loop *loop);
/* At this IPv4 address, and port 53: where resolv.conf can name it. */
struct dns_script *dns_script_new_at(struct ev_loop *loop, const char *ip);
void dns_script_free(struct dns_script **s);

/* "127.0.0.1:PORT". */
const char *dns_script_address(const struct dns_script *s);

/* Borrowed, with all that it points to, until the script is freed. Goes before what was
 * said for the same name. */
void dns_script_say(struct dns_script *s, const struct dns_reply *reply);

/* How many questions came for `name` (NULL: for any), of `type` (0: of any), over UDP
 * and TCP together. */
unsigned dns_script_count(const struct dns_script *s, const char *name, int type);
unsigned dns_script_tcp_count(const struct dns_script *s);

#endif
