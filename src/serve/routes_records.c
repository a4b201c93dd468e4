/* Records, why one is missing, quarantine and signals. */
#include "serve/call.h"
#include "serve/record_stream.h"
#include "view/quarantine.h"
#include "view/record.h"
#include "view/signals.h"
#include "view/why.h"

enum { LIST_MAX = 1000 };

/* ---- records ---- */

static bool read_walk(struct call *call, struct record_walk *walk, struct error *err)
{
    const struct str after = call_text(call, "after");

    *walk = (struct record_walk){
        .source = call_text(call, "source"),
        .endpoint = call_text(call, "endpoint"),
        .states = call_flag(call, "deleted") ? RECORDS_DELETED : RECORDS_LIVE,
        .by_change = call_has(call, "since"),
        .changed_from_us = call_number(call, "since"),
        .changed_to_us = INSTANT_MAX,
        .with_changed = true,
    };
    return after.len == 0 || view_record_place(after, &walk->after) ||
           error_set(err, ERROR_REQUEST, "request.parameter",
                     "after: takes what the page before named, such as works/512");
}

static bool list_records(struct call *call, struct error *err)
{
    struct view_record_list list;
    struct record_walk walk;

    if (!read_walk(call, &walk, err))
        return false;
    walk.limit = call_number(call, "limit");
    if (!view_record_list(&call->reader, &walk, &list, err))
        return false;
    view_record_list_write(&call->w, &list);
    if (list.next.len > 0)
        call_next(call, "after", list.next);
    return true;
}

static bool stream_records(struct call *call, struct error *err)
{
    struct record_walk walk;

    return view_source_check(&call->reader, call_text(call, "source"), err) &&
           read_walk(call, &walk, err) &&
           record_stream_open(call, &walk, call_flag(call, "fields"), err);
}

static bool count_records(struct call *call, struct error *err)
{
    struct view_record_count_list list;

    if (!view_record_counts(&call->reader, call_text(call, "source"), &list, err))
        return false;
    view_record_counts_write(&call->w, &list);
    return true;
}

static struct record_key key_of(const struct call *call)
{
    return (struct record_key){ .source = call_text(call, "source"),
                                .endpoint = call_text(call, "endpoint"),
                                .provider_id = call_text(call, "id") };
}

static bool show_record(struct call *call, struct error *err)
{
    const struct view_record_query query = { .key = key_of(call),
                                             .with_history = call_flag(call, "history"),
                                             .specs = api_settings(call->api)->specs };
    struct view_record view;

    return view_record(&call->reader, &query, &view, err) &&
           view_record_write(&call->w, call->reader.arena, &view, err);
}

static bool show_why(struct call *call, struct error *err)
{
    const struct view_why_query query = { .key = key_of(call),
                                          .has_date = call_has(call, "date"),
                                          .date_us = call_number(call, "date"),
                                          .sinks = api_settings(call->api)->sinks };
    struct view_why why;

    if (!view_why(&call->reader, &query, &why, err))
        return false;
    view_why_write(&call->w, &why);
    return true;
}

/* ---- quarantine and signals ---- */

static bool list_quarantine(struct call *call, struct error *err)
{
    const struct quarantine_filter filter = { .source = call_text(call, "source"),
                                              .endpoint = call_text(call, "endpoint"),
                                              .reason = call_text(call, "reason"),
                                              .with_resolved = call_flag(call, "all"),
                                              .after_id = call_number(call, "after"),
                                              .limit = call_number(call, "limit") };
    struct view_quarantine_list list;

    if (!view_quarantine_list(&call->reader, &filter, &list, err))
        return false;
    view_quarantine_list_write(&call->w, &list);
    if (list.is_full)
        call_next_row(call, "after", list.items[list.count - 1].id);
    return true;
}

static bool show_quarantined(struct call *call, struct error *err)
{
    struct quarantined record;

    return view_quarantined(&call->reader, call_number(call, "id"), &record, err) &&
           view_quarantined_write(&call->w, call->reader.arena, &record, err);
}

static bool list_signals(struct call *call, struct error *err)
{
    const struct signal_filter filter = { .source = call_text(call, "source"),
                                          .endpoint = call_text(call, "endpoint"),
                                          .reason = call_text(call, "reason"),
                                          .after_id = call_number(call, "after"),
                                          .limit = call_number(call, "limit") };
    struct view_signal_list list;

    if (!view_signal_list(&call->reader, &filter, &list, err))
        return false;
    view_signal_list_write(&call->w, &list);
    if (list.is_full)
        call_next_row(call, "after", list.items[list.count - 1].id);
    return true;
}

/* ---- the table ---- */

#define SOURCE_PATH PARAM_WORD("source", IN_PATH, "The source.")
#define SOURCE_QUERY PARAM_WORD("source", IN_QUERY, "Only of this source.")
#define ENDPOINT PARAM_WORD("endpoint", IN_QUERY, "Only of this endpoint.")
#define REASON PARAM_WORD("reason", IN_QUERY, "Only with this reason.")
#define ID PARAM_WORD("id", IN_PATH, "The provider's id, percent-encoded: a slash is %2F.")
#define SINCE                                                               \
    {                                                                       \
        .name = "since", .place = IN_QUERY, .kind = PARAM_INSTANT,          \
        .help = "Only records that changed since: a date, or how long ago." \
    }
#define DELETED PARAM_SWITCH("deleted", IN_QUERY, "Deleted records instead of the others.")
#define PLACE PARAM_WORD("after", IN_QUERY, "Begin after this place, such as works/512.")

static const struct route ROUTES[] = {
    { .method = "GET",
      .path = "/v1/records/{source}",
      .name = "listRecords",
      .summary = "Records of a source, in the order in which they were first stored",
      .command = "patra record list SOURCE --json",
      .access = ROUTE_READS,
      .params = { SOURCE_PATH, ENDPOINT, SINCE, DELETED, PLACE, PARAM_LIMIT(LIST_MAX, 50) },
      .run = list_records },
    { .method = "GET",
      .path = "/v1/records/{source}/{id}",
      .name = "showRecord",
      .summary = "A record: its fields, its versions, where it came from, its bytes",
      .command = "patra record show SOURCE ID --json",
      .access = ROUTE_READS,
      .params = { SOURCE_PATH, ID, ENDPOINT,
                  PARAM_SWITCH("history", IN_QUERY, "With its events.") },
      .run = show_record },
    { .method = "GET",
      .path = "/v1/record-lines/{source}",
      .name = "streamRecords",
      .summary = "All records of a source as JSON lines, as a stream",
      .command = "patra record export SOURCE",
      .type = "application/x-ndjson",
      .access = ROUTE_READS,
      .params = { SOURCE_PATH, ENDPOINT, SINCE, DELETED, PLACE,
                  PARAM_SWITCH("fields", IN_QUERY,
                               "With the fields that the mapping in force derives.") },
      .run = stream_records },
    { .method = "GET",
      .path = "/v1/record-counts",
      .name = "countRecords",
      .summary = "How many records there are, by source and endpoint; every record is counted",
      .command = "patra record count --json",
      .access = ROUTE_READS,
      .params = { SOURCE_QUERY },
      .run = count_records },
    { .method = "GET",
      .path = "/v1/why/{source}/{id}",
      .name = "showWhy",
      .summary = "Where a record is on its way, what is missing, and the command that heals it",
      .command = "patra why SOURCE ID --json",
      .access = ROUTE_READS,
      .params = { SOURCE_PATH,
                  ID,
                  ENDPOINT,
                  { .name = "date",
                    .place = IN_QUERY,
                    .kind = PARAM_INSTANT,
                    .help = "The date that the source gives a record that is not there." } },
      .run = show_why },
    { .method = "GET",
      .path = "/v1/quarantine",
      .name = "listQuarantine",
      .summary = "Quarantined records, and how many are open by reason",
      .command = "patra quarantine list --json",
      .access = ROUTE_READS,
      .params = { SOURCE_QUERY, ENDPOINT, REASON,
                  PARAM_SWITCH("all", IN_QUERY, "Also those that were retried or dropped."),
                  PARAM_AFTER("Only records after this one."), PARAM_LIMIT(LIST_MAX, 50) },
      .run = list_quarantine },
    { .method = "GET",
      .path = "/v1/quarantine/{id}",
      .name = "showQuarantined",
      .summary = "A quarantined record: the reason, its origin, its bytes",
      .command = "patra quarantine show ID --json",
      .access = ROUTE_READS,
      .params = { PARAM_ROW("id", "Its number.") },
      .run = show_quarantined },
    { .method = "GET",
      .path = "/v1/signals",
      .name = "listSignals",
      .summary = "Records that the next update requests again",
      .command = "patra signal list --json",
      .access = ROUTE_READS,
      .params = { SOURCE_QUERY, ENDPOINT, REASON, PARAM_AFTER("Only signals after this one."),
                  PARAM_LIMIT(LIST_MAX, 50) },
      .run = list_signals },
};

const struct route_group ROUTES_RECORDS = { "Records", ROUTES, ARRAY_LEN(ROUTES) };
