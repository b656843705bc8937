/* Plain HTTP requests of a client connection, one after another: each is judged, gets
 * an exchange (exchange.h) over a connection to its server, new or kept (upstream.h),
 * and its own line in the audit. For the files that hold a connection's steps. */
#ifndef PROXY_PLAIN_H
#define PROXY_PLAIN_H

#include "proxy/conn_step.h"

/* A plain request was understood. False: it names too much in Connection. */
bool plain_begin(struct conn *c, const struct http_head *head);
/* NULL is fine. */
void plain_free(struct plain **p);

/* Before there is a server: reads some of what the client sends, but no more than has
 * room. False: it is gone. */
bool plain_read_ahead(struct conn *c);
/* Called before a dial too: from here on the way to the server is chosen. True: by a
 * connection to it that has answered before, which is in c->server now. */
bool plain_reuse(struct conn *c);
/* What a dial found out beside the connection. */
void plain_dialled(struct conn *c, const struct dial_result *result);
/* Policy allows it, and the server is there: to EXCHANGE. */
enum step plain_start(struct conn *c);

/* It is for this proxy and not for the server (RFC 9110 7.6.2); the answer. */
bool plain_ends_here(const struct conn *c);
enum step plain_answer_here(struct conn *c);

/* After a refusal: the client may ask again; then what it still sends of this request
 * is thrown away, in EXCHANGE. */
bool plain_may_drop(const struct plain *p);
enum step plain_drop(struct conn *c);

/* How much has gone, and when the last of it did. */
void plain_count(const struct plain *p, struct audit_event *event);
ev_tstamp plain_moved(const struct plain *p);
/* For so many seconds nothing needs to go. */
double plain_patience(const struct plain *p, const struct limits *limits);

#endif
