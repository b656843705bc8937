#include "proxy/limits.h"

#include <math.h>

#include "proxy/relay.h"

enum { DAY = 24 * 60 * 60 };

const struct limits limits_default = {
    .connections = 10000,
    .connections_per_client = 1000,
    .head_bytes = 16384,
    .early_bytes = 65536,
    .head_seconds = 10,
    .connect_seconds = 15,
    .idle_seconds = 600,
    .half_closed_seconds = 600,
    .response_seconds = 300,
    .shed_seconds = 30,
    .drain_seconds = 30,
};

static const struct key keys[] = {
    {"connections", KEY_USED, NULL},     {"connectionsPerClient", KEY_USED, NULL},
    {"headBytes", KEY_USED, NULL},       {"earlyBytes", KEY_USED, NULL},
    {"headSeconds", KEY_USED, NULL},     {"connectSeconds", KEY_USED, NULL},
    {"idleSeconds", KEY_USED, NULL},     {"halfClosedSeconds", KEY_USED, NULL},
    {"responseSeconds", KEY_USED, NULL}, {"shedSeconds", KEY_USED, NULL},
    {"drainSeconds", KEY_USED, NULL},    {.name = NULL},
};

/* Numbers are whole, seconds may have fractions. */
static const struct number {
    const char *key;
    size_t offset;
    unsigned min, max;
} numbers[] = {
    {"connections", offsetof(struct limits, connections), 1, 1000000},
    {"connectionsPerClient", offsetof(struct limits, connections_per_client), 1,
     1000000},
    {"headBytes", offsetof(struct limits, head_bytes), 1024, 1024 * 1024},
    /* What was sent early is handed to the relay in one piece. */
    {"earlyBytes", offsetof(struct limits, early_bytes), 1024, RELAY_BUFFER},
};

static const struct seconds {
    const char *key;
    size_t offset;
    double min, max;
} seconds[] = {
    {"headSeconds", offsetof(struct limits, head_seconds), 0.1, 3600},
    {"connectSeconds", offsetof(struct limits, connect_seconds), 0.1, 3600},
    {"idleSeconds", offsetof(struct limits, idle_seconds), 0.1, 30 * DAY},
    {"halfClosedSeconds", offsetof(struct limits, half_closed_seconds), 0.1, 30 * DAY},
    {"responseSeconds", offsetof(struct limits, response_seconds), 0.1, 30 * DAY},
    {"shedSeconds", offsetof(struct limits, shed_seconds), 0.1, 30 * DAY},
    {"drainSeconds", offsetof(struct limits, drain_seconds), 0, DAY},
};

static bool read_number(const struct keys_file *file, const cJSON *object,
                        const struct number *number, struct limits *out, struct err *e)
{
    const cJSON *node = json_get(object, number->key);
    double value = cJSON_IsNumber(node) ? node->valuedouble : NAN;

    if (node == NULL)
        return true;
    if (!(value >= number->min && value <= number->max) || value != floor(value)) {
        err_set(e, "limits.%s: expected a whole number from %u to %u", number->key,
                number->min, number->max);
        return keys_wrap(file, node, e);
    }
    *(unsigned *)((char *)out + number->offset) = (unsigned)value;
    return true;
}

static bool read_seconds(const struct keys_file *file, const cJSON *object,
                         const struct seconds *s, struct limits *out, struct err *e)
{
    const cJSON *node = json_get(object, s->key);
    double value = cJSON_IsNumber(node) ? node->valuedouble : NAN;

    if (node == NULL)
        return true;
    if (!(value >= s->min && value <= s->max)) {
        err_set(e, "limits.%s: expected a number of seconds from %g to %.0f", s->key,
                s->min, s->max);
        return keys_wrap(file, node, e);
    }
    *(double *)((char *)out + s->offset) = value;
    return true;
}

bool limits_read(const struct keys_file *file, const cJSON *object, struct limits *out,
                 struct err *e)
{
    if (object == NULL)
        return true;
    if (!keys_check(file, "limits.", object, keys, e))
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!read_number(file, object, &numbers[i], out, e))
            return false;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        if (!read_seconds(file, object, &seconds[i], out, e))
            return false;
    return true;
}
