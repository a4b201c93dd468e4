/* The audit as JSON, for GET /_sim/audit. */
#include <inttypes.h>

#include "base/instant.h"
#include "sim/audit/audit_internal.h"
#include "sim/util/text_out.h"

static void add_field(struct buf *json, const char *name, struct str value)
{
    buf_printf(json, ",\"%s\":", name);
    text_add_json_string(json, value);
}

static void add_time(struct buf *json, const char *name, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    buf_printf(json, ",\"%s\":\"%.*s\"", name, (int)instant_format(at_us, text), text);
}

static void show_limits(const struct audit *audit, struct buf *json)
{
    buf_add(json, STR(",\"limits\":["));
    for (size_t i = 0; i < audit->limit_count; i++) {
        const struct limit *limit = &audit->limits[i];

        buf_printf(json, "%s{\"in_flight\":%zu,\"in_flight_peak\":%zu", i > 0 ? "," : "",
                   limit->in_progress_count, limit->in_progress_peak);
        add_field(json, "path", limit->path);
        if (limit->rate >= 0)
            buf_printf(json,
                       ",\"rate\":%.6g,\"window_us\":%" PRId64
                       ",\"burst\":%.6g,\"slack_us\":%" PRId64,
                       limit->rate, limit->window_us, limit->burst, limit->slack_us);
        if (limit->concurrency > 0)
            buf_printf(json, ",\"concurrency\":%" PRId64, limit->concurrency);
        buf_add_char(json, '}');
    }
    buf_add_char(json, ']');
}

static void show_summary(const struct audit *audit, struct buf *json)
{
    const char *comma = "";

    buf_printf(json,
               "{\"summary\":{\"requests\":%" PRIu64 ",\"faults\":%" PRIu64
               ",\"incomplete\":%" PRIu64 ",\"statuses\":{",
               audit->requests - audit->forgotten, audit->faults, audit->incomplete);
    for (int i = 0; i < STATUSES_MAX; i++) {
        if (audit->statuses[i] == 0)
            continue;
        buf_printf(json, "%s\"%d\":%" PRIu64, comma, i, audit->statuses[i]);
        comma = ",";
    }
    buf_add(json, STR("},\"violations\":{"));
    for (int i = 0; i < RULE_COUNT; i++)
        buf_printf(json, "%s\"%s\":%" PRIu64, i > 0 ? "," : "", AUDIT_RULE_NAMES[i],
                   audit->broken[i]);
    buf_printf(json,
               "},\"dropped\":{\"requests\":%" PRIu64 ",\"violations\":%" PRIu64
               ",\"pages\":%" PRIu64 "}",
               audit->dropped_requests, audit->dropped_violations, audit->dropped_pages);
    show_limits(audit, json);
    buf_add_char(json, '}');
}

static void explain(struct buf *json, const struct violation *violation)
{
    const double seconds = (double)violation->span_us / (double)US_PER_SECOND;

    switch (violation->rule) {
    case RULE_RATE:
        buf_printf(json, "%" PRId64 " requests within %.6f s, allowed %.3f", violation->count,
                   seconds, violation->allowed);
        break;
    case RULE_CONCURRENCY:
        buf_printf(json, "%" PRId64 " requests at once, allowed %.0f", violation->count,
                   violation->allowed);
        break;
    case RULE_RETRY_AFTER:
        buf_printf(json, "%.6f s before the end of a Retry-After", seconds);
        break;
    case RULE_CREDENTIAL_HOST:
        buf_add(json, STR("a credential sent to the other host"));
        break;
    case RULE_CREDENTIAL_PLAIN:
        buf_add(json, STR("a credential sent over plain HTTP"));
        break;
    case RULE_AGENT:
        buf_add(json, STR("no User-Agent"));
        break;
    case RULE_CONTACT:
        buf_add(json, STR("no contact address"));
        break;
    case RULE_REPEAT:
        buf_printf(json, "the same page for the %" PRId64 ". time without cause", violation->count);
        break;
    case RULE_COUNT:
        break;
    }
}

static void show_violations(const struct audit *audit, struct buf *json)
{
    buf_add(json, STR(",\"violations\":["));
    for (size_t i = 0; i < audit->violation_count; i++) {
        const struct violation *violation = &audit->violations[i];

        buf_printf(json, "%s\n{\"rule\":\"%s\",\"request\":%" PRIu64, i > 0 ? "," : "",
                   AUDIT_RULE_NAMES[violation->rule], violation->ordinal);
        if (violation->other > 0)
            buf_printf(json, ",\"other\":%" PRIu64, violation->other);
        if (violation->path.len > 0)
            add_field(json, "path", violation->path);
        if (violation->allowed > 0)
            buf_printf(json, ",\"count\":%" PRId64 ",\"allowed\":%.6g,\"span_us\":%" PRId64,
                       violation->count, violation->allowed, violation->span_us);
        buf_add(json, STR(",\"text\":\""));
        explain(json, violation);
        buf_add(json, STR("\"}"));
    }
    buf_add_char(json, ']');
}

static void show_requests(const struct audit *audit, struct buf *json)
{
    buf_add(json, STR(",\"requests\":["));
    for (const struct audit_entry *entry = audit->first; entry != NULL; entry = entry->next) {
        buf_printf(json, "%s\n{\"request\":%" PRIu64 ",\"real_us\":%" PRId64,
                   entry != audit->first ? "," : "", entry->ordinal, entry->real_us);
        add_time(json, "now", entry->virtual_us);
        buf_printf(json, ",\"on_client_time\":%s,\"other_host\":%s,\"scheme\":\"%s\"",
                   entry->on_client_time ? "true" : "false", entry->other_host ? "true" : "false",
                   entry->scheme);
        add_field(json, "method", entry->method);
        add_field(json, "host", entry->host);
        add_field(json, "path", entry->path);
        add_field(json, "query", entry->query);
        add_field(json, "client", entry->client);
        add_field(json, "user_agent", entry->agent);
        buf_printf(json, ",\"status\":%d,\"complete\":%s,\"body_bytes\":%zu", entry->status,
                   entry->complete ? "true" : "false", entry->bytes);
        if (entry->rule != 0)
            buf_printf(json, ",\"fault\":\"%s\",\"fault_rule\":%" PRId64, entry->fault,
                       entry->rule);
        buf_add_char(json, '}');
    }
    buf_add_char(json, ']');
}

void audit_write_json(struct audit *audit, bool with_requests, struct buf *json)
{
    (void)pthread_mutex_lock(&audit->lock);
    show_summary(audit, json);
    show_violations(audit, json);
    if (with_requests)
        show_requests(audit, json);
    buf_add(json, STR("}\n"));
    (void)pthread_mutex_unlock(&audit->lock);
}
