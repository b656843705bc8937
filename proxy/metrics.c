#include "proxy/metrics.h"

static const char *const sni_names[SNI_COUNT] = {
    [SNI_NOT_TLS] = "not-tls",     [SNI_MATCH] = "match",
    [SNI_MISMATCH] = "mismatch",   [SNI_NONE] = "none",
    [SNI_ENCRYPTED] = "encrypted", [SNI_MALFORMED] = "malformed",
};

static bool head(struct buf *out, const char *name, const char *type, const char *help)
{
    return buf_printf(out, "# HELP weir_%s %s\n# TYPE weir_%s %s\n", name, help, name,
                      type);
}

static bool single(struct buf *out, const char *name, const char *type,
                   const char *help, unsigned long long value)
{
    return head(out, name, type, help) &&
           buf_printf(out, "weir_%s %llu\n", name, value);
}

static bool labelled(struct buf *out, const char *name, const char *label,
                     const char *text, unsigned long long value)
{
    return buf_printf(out, "weir_%s{%s=\"%s\"} %llu\n", name, label, text, value);
}

/* What can come is always there, from the first scrape on, so that a rate can be had of
 * its first time; what should not come is there when it does. */
static bool write_decisions(struct buf *out, const struct counters *c)
{
    bool ok = head(out, "decisions_total", "counter",
                   "Requests that have ended, by what was decided.");

    for (unsigned allow = 0; allow < 2; allow++) {
        for (unsigned reason = 0; reason < REASON_COUNT; reason++) {
            bool allows = reason == REASON_ALLOW_LIST || reason == REASON_REPORT_MODE;
            unsigned long long n = count_read(&c->decisions[allow][reason]);

            if (n > 0 || allows == (allow == 1))
                ok = ok && buf_printf(out,
                                      "weir_decisions_total{verdict=\"%s\",reason="
                                      "\"%s\"} %llu\n",
                                      allow ? "allow" : "deny",
                                      reason_name((enum reason)reason), n);
        }
    }
    return ok;
}

static bool write_bytes(struct buf *out, const struct counters *c)
{
    return head(out, "bytes_total", "counter",
                "Bytes that servers (up) and clients (down) have taken.") &&
           labelled(out, "bytes_total", "direction", "up", count_read(&c->bytes_up)) &&
           labelled(out, "bytes_total", "direction", "down",
                    count_read(&c->bytes_down));
}

static bool write_histogram(struct buf *out, const char *name, const char *help,
                            const struct histogram *h)
{
    unsigned long long sum = 0;
    bool ok = head(out, name, "histogram", help);

    for (unsigned i = 0; i < COUNTERS_BOUNDS; i++) {
        sum += count_read(&h->buckets[i]);
        ok = ok && buf_printf(out, "weir_%s_bucket{le=\"%g\"} %llu\n", name,
                              counters_bound(i), sum);
    }
    sum += count_read(&h->buckets[COUNTERS_BOUNDS]);
    return ok && buf_printf(out,
                            "weir_%s_bucket{le=\"+Inf\"} %llu\nweir_%s_sum %.6f\n"
                            "weir_%s_count %llu\n",
                            name, sum, name, (double)count_read(&h->microseconds) / 1e6,
                            name, sum);
}

static bool write_sni(struct buf *out, const struct counters *c)
{
    bool ok = head(out, "sni_total", "counter",
                   "What the first bytes of tunnels showed, beside the target.");

    for (unsigned i = 0; i < SNI_COUNT; i++)
        ok = ok && labelled(out, "sni_total", "category", sni_names[i],
                            count_read(&c->sni[i]));
    return ok;
}

static bool write_accept_errors(struct buf *out, const struct counters *c)
{
    bool ok = head(out, "accept_errors_total", "counter",
                   "How often accepting had to rest, and why.");

    for (unsigned i = 0; i < COUNTERS_ERRORS; i++)
        ok = ok && labelled(out, "accept_errors_total", "errno", counters_error_name(i),
                            count_read(&c->accept_errors[i]));
    return ok;
}

static bool write_reloads(struct buf *out, const struct metrics *m)
{
    return head(out, "reloads_total", "counter",
                "Reloads of the gateway file after the start.") &&
           labelled(out, "reloads_total", "result", "success", m->reloaded) &&
           labelled(out, "reloads_total", "result", "failure", m->reload_failed) &&
           single(out, "config_generation", "gauge",
                  "Of the configuration that all workers have.", m->generation);
}

static bool write_cores(struct buf *out, const struct counters *c)
{
    return single(out, "connections_active", "gauge", "Client connections now.",
                  count_read(&c->connections)) &&
           write_bytes(out, c) &&
           write_histogram(out, "dns_seconds", "Lookups of names.", &c->dns) &&
           write_histogram(out, "connect_seconds", "Connecting to servers.",
                           &c->connect) &&
           write_sni(out, c) && write_accept_errors(out, c) &&
           single(out, "shed_total", "counter",
                  "Idle tunnels cut to make room when descriptors or memory ran out.",
                  count_read(&c->shed)) &&
           single(out, "cut_short_total", "counter",
                  "Connections closed without an answer, over a limit.",
                  count_read(&c->cut_short));
}

static bool write_process(struct buf *out, const struct metrics *m)
{
    return write_reloads(out, m) &&
           single(out, "audit_dropped_total", "counter",
                  "Lines of the audit that were lost.", m->audit_dropped) &&
           single(out, "audit_failing", "gauge", "1 while the audit cannot be written.",
                  m->audit_failing) &&
           single(out, "ending", "gauge", "1 while nothing new is taken.", m->ending) &&
           single(out, "workers", "gauge", "Threads that serve.", m->workers) &&
           head(out, "build_info", "gauge", "Always 1.") &&
           labelled(out, "build_info", "version", WEIR_VERSION, 1);
}

bool metrics_write(const struct metrics *m, struct buf *out)
{
    return write_decisions(out, m->total) && write_cores(out, m->total) &&
           write_process(out, m);
}
