#include "proxy/connect_error.h"

#include <errno.h>

static const struct {
    int number;
    struct connect_error is;
} known[] = {
    {ECONNREFUSED,
     {REASON_CONNECT_FAILURE, "the server refused the connection",
      "the connection was refused", "connection_refused"}},
    {EHOSTUNREACH,
     {REASON_CONNECT_FAILURE, "no route to the host", "no route to the host",
      "destination_unavailable"}},
    {ENETUNREACH,
     {REASON_CONNECT_FAILURE, "no route to the network", "no route to the network",
      "destination_ip_unroutable"}},
    {ETIMEDOUT,
     {REASON_TIMEOUT, "the server did not answer", "it did not answer", NULL}},
    {EMFILE,
     {REASON_LIMIT, "the proxy has no descriptor left",
      "the proxy has no descriptor left", NULL}},
    {ENFILE,
     {REASON_LIMIT, "the system has no descriptor left",
      "the system has no descriptor left", NULL}},
};

struct connect_error connect_error(int error)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == error)
            return known[i].is;
    return (struct connect_error){REASON_CONNECT_FAILURE, strerrordesc_np(error),
                                  strerrordesc_np(error), NULL};
}
