/*
 * The hand-off: how a sandbox gets its session (DESIGN 7, README "Hand-off protocol").
 *
 * A launcher connects to the core's control socket (Unix, SOCK_SEQPACKET) and sends one
 * JSON message with the listening sockets that it made inside the sandbox's network
 * namespace as SCM_RIGHTS. The core answers with one message. From then on **the open
 * connection is the session**: when either end closes it, or dies, the session is over.
 *
 *   -> {"attach":{"session":"run-4711","policy":"default","sockets":["proxy"]}}  + 1 fd
 *   <- {"attached":{"session":"run-4711"}}   or   {"error":"..."}
 *   <- {"violation":{...}}                   later, any number
 *   -> {"detach":{}}
 *
 * Parsing is here, bytes to struct and back, for both ends; it does no input or output
 * but handoff_offer() and handoff_take(). */
#ifndef BASE_HANDOFF_H
#define BASE_HANDOFF_H

#include "proxy/base/err.h"
#include "proxy/base/fd.h"
#include "proxy/base/str.h"

enum { HANDOFF_MESSAGE_MAX = 65536, HANDOFF_NAME_MAX = 64 };

enum handoff_socket {
    HANDOFF_NONE = 0,
    HANDOFF_PROXY,
    HANDOFF_DNS,
    HANDOFF_TRANSPARENT
};

struct handoff_attach {
    char session[HANDOFF_NAME_MAX + 1]; /* [A-Za-z0-9._-]+; shows in each audit line */
    char policy[HANDOFF_NAME_MAX + 1];  /* a name, no path */
    enum handoff_socket kinds[FD_PASS_MAX];
    int fds[FD_PASS_MAX]; /* handoff_parse_attach() leaves them alone */
    size_t count;
};

bool handoff_parse_attach(struct str message, struct handoff_attach *out,
                          struct err *e);

/* The launcher's side, on a blocking socket: offers, and waits for the answer. `fds`
 * stay the caller's (who closes its copies before exec). */
bool handoff_offer(int control, const struct handoff_attach *attach, struct err *e);

/* The core's side: takes the first message of a control connection. What is handed over
 * is not trusted: each descriptor must be a socket of the domain, type and protocol
 * that its kind wants, and listening where that applies; it is made close-on-exec. On
 * anything but FD_RECV_OK nothing is left open. The receiver owns out->fds. */
enum fd_recv handoff_take(int control, struct handoff_attach *out, struct err *e);
bool handoff_accept(int control, const char *session, struct err *e);
bool handoff_refuse(int control, const char *why, struct err *e);

#endif
