#include "proxy/health.h"

/* A worker answers within milliseconds; the longest it is held up is by a netlink
 * socket that does not answer, for some seconds (hostaddrs.c). */
static const double silence_max = 10;

bool health_is_alive(const struct health *h)
{
    return h->silence < silence_max;
}

/* A line for each thing that is not as it should be. */
static bool write_troubles(const struct health *h, struct buf *body)
{
    const struct trouble {
        bool is;
        const char *text;
    } troubles[] = {
        {!health_is_alive(h), "a worker does not answer"},
        {h->rests, "accepting rests at times: descriptors or memory have run out"},
        {h->crowded, "clients are refused at times: there are no more descriptors"},
        {h->audit_refuses, "the audit cannot be written, and requests are refused"},
        {h->audit_failing && !h->audit_refuses, "the audit cannot be written"},
        {h->reload_failed, "the last reload failed: an older configuration holds"},
        {h->ending, "ending: nothing new is taken"},
    };
    bool any = false;

    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        any = any || troubles[i].is;
        if (troubles[i].is)
            buf_printf(body, "degraded: %s\n", troubles[i].text);
    }
    return any;
}

bool health_write(const struct health *h, struct buf *body)
{
    if (!write_troubles(h, body))
        buf_add(body, STR("ok\n"));
    return health_is_alive(h);
}

bool health_write_ready(const struct health *h, struct buf *body)
{
    bool ready = health_is_alive(h) && !h->rests && !h->audit_refuses && !h->ending;

    write_troubles(h, body);
    if (ready)
        buf_add(body, STR("ready\n"));
    return ready;
}
