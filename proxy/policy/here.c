#include "proxy/policy/here.h"

#include "proxy/policy/addrclass.h"

bool here_has(const struct hostaddrs *host, const struct ip *ip)
{
    for (size_t i = 0; i < host->interface_count; i++) {
        struct ip interface = host->interfaces[i];

        ip_unmap(&interface);
        if (ip_equal(&interface, ip))
            return true;
    }
    for (size_t i = 0; i < host->local_count; i++)
        if (ip_range_has(&host->local[i], ip))
            return true;
    return false;
}

/* 0.0.0.0 or ::, which the kernel takes for loopback; not the rest of 0.0.0.0/8, where
 * ::1 has a form too. */
static bool is_any(const struct ip *ip)
{
    static const uint8_t zeros[sizeof ip->bytes];

    return memcmp(ip->bytes, zeros, sizeof zeros) == 0;
}

bool here_is_own(const struct hostaddrs *host, const struct ip *ip, unsigned port)
{
    for (size_t i = 0; i < host->own_count; i++) {
        struct ip own = addr_ip(&host->own[i]);

        if (addr_port(&host->own[i]) != port)
            continue;
        ip_unmap(&own);
        if (ip_equal(&own, ip) || is_any(ip))
            return true;
        if (is_any(&own) &&
            (addr_class_of(ip) == ADDR_CLASS_LOOPBACK || here_has(host, ip)))
            return true;
    }
    return false;
}
