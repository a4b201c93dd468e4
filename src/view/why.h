/* why: where one record is on its way from the source to everybody who reads it; and, where it is
 * missing, the first step at which it is, and the command that heals it.
 *
 *      source ▶ plan ▶ window ▶ request ▶ quarantine ▶ record ▶ stream ▶ subscription ▶ projection
 *
 * What is known of each step is gathered (why.c and why_*.c); why_judge.c goes through the steps in
 * this order and writes down what is missing: the findings. A record without findings is there, and
 * everybody has it.
 *
 * The steps before `record` are judged by what is known of the id itself, where something is:
 * quarantine, signals, tasks that have listed it. Otherwise by its date: is there a window that
 * holds it, and what became of that? The date of a record that was never stored is not known; the
 * caller may give it.
 *
 * Where there is no source of the name, it may be the type of another service's aggregates, whose
 * events come from a foreign outbox: import ▶ stream ▶ subscription ▶ projection.
 */
#ifndef PATRA_VIEW_WHY_H
#define PATRA_VIEW_WHY_H

#include "data/json_write.h"
#include "port/store_pause.h"
#include "port/store_quarantine.h"
#include "port/store_signal.h"
#include "port/store_sink.h"
#include "port/store_subscription.h"
#include "port/store_trace.h"
#include "view/reader.h"
#include "view/trouble.h"

enum why_step {
    WHY_ID,
    WHY_SOURCE,
    WHY_IMPORT,
    WHY_PLAN,
    WHY_WINDOW,
    WHY_REQUEST,
    WHY_QUARANTINE,
    WHY_RECORD,
    WHY_STREAM,
    WHY_SUBSCRIPTION,
    WHY_PROJECTION,
};
struct str why_step_name(enum why_step step); /* "window" */

struct why_finding {
    enum why_step step;
    struct str reason;  /* for programs: "window.failed" */
    struct str text;    /* a sentence */
    struct str command; /* that heals it; empty: nothing is to be done */
};

struct why_finding_list {
    struct why_finding *items; /* in the order of the steps; hints at other ids last */
    size_t count;
};

/* ---- the source ---- */

struct why_operation { /* of the source that is in force, whose records these are */
    struct str name;
    enum operation operation;
    struct str endpoint; /* that is requested */
    bool is_by_id;
    bool is_only; /* no other one has this word: it need not be named */
    bool takes_signals;
    bool is_feed; /* its windows are not of time */
    int64_t lag_us;
    struct str query_hash;
};

struct why_source {
    bool is_in_force;
    bool was_in_force;                /* at an earlier time */
    struct why_operation *operations; /* those of the record's endpoint */
    size_t operation_count;
    struct pause_list pauses;
};

struct why_alike_list { /* records with the same id but for case, of any source */
    struct record_key *items;
    size_t count;
};

/* ---- foreign outboxes ---- */

struct why_import { /* whose aggregates may be of this type */
    struct subscription subscription;
    bool is_named;    /* they are: the type begins with its prefix */
    int64_t readers;  /* that are alive */
    struct str error; /* of the first that cannot go on; empty: none */
    bool is_parked;   /* a row of the aggregate was refused */
    struct trace_parked parked;
};

struct why_import_list {
    struct why_import *items; /* by name */
    size_t count;
};

/* ---- its windows ---- */

enum why_cover { WHY_COVERED, WHY_LIVE, WHY_LOST };

struct why_window {
    struct ended_task ended;
    enum why_cover cover; /* of the record's date and id */
    bool is_former;       /* of a query that is not in force */
};

struct why_window_list {
    struct why_window *items; /* the newest first */
    size_t count;
};

struct why_plan { /* that holds the date although no task of it does */
    struct trace_plan plan;
    enum why_cover cover;
    bool is_former;
};

struct why_plan_list {
    struct why_plan *items; /* the newest first */
    size_t count;
};

/* Where no date is known: what of the whole source is missing. */
struct why_rest {
    bool has_plans;
    struct trouble_list troubles;
    int64_t queued; /* tasks */
};

/* ---- its versions ---- */

struct why_names {
    struct str *items;
    size_t count;
};

struct why_version {
    struct trace_event event;
    bool has_request;
    struct trace_request request;
    bool has_before;          /* the event before it is known, too */
    struct why_names changed; /* fields that differ from it */
    bool is_same_date;        /* although something changed */
    bool is_rederived;        /* read again by a changed mapping */
    struct str updated;       /* the source's date; empty: none */
    struct str merged_into;   /* of a deletion; empty: none */
};

struct why_version_list {
    struct why_version *items; /* the newest first */
    size_t count;
    bool is_full; /* there may be earlier ones */
};

/* ---- who reads it ---- */

enum why_delivery_state {
    WHY_DELIVERED,
    WHY_WAITING,    /* it is in the stream, and the subscription is not that far */
    WHY_NOT_PLACED, /* it is not in the stream */
    WHY_PARKED,
    WHY_DEAD,
    WHY_FILTERED, /* by the settings of the subscription */
    WHY_SKIPPED,  /* somebody moved the subscription past it */
    WHY_EARLIER,  /* the subscription began with later events */
    WHY_UNKNOWN,  /* the database that knows is out of reach */
};
struct str why_delivery_name(enum why_delivery_state state); /* "delivered" */

/* What a table has of the record. */
enum why_row_state {
    WHY_ROW_CURRENT, /* the newest version, or its deletion */
    WHY_ROW_OLDER,
    WHY_ROW_ABSENT,
    WHY_ROW_REVIVED,   /* a row, although the record is deleted */
    WHY_ROW_LEFT_OUT,  /* by a filter of the table */
    WHY_ROW_NOT_TAKEN, /* the table does not take such events */
};
struct str why_row_name(enum why_row_state state); /* "current" */

struct why_row {
    struct str table;
    enum why_row_state state;
    int64_t version; /* 0: none */
};

struct why_row_list {
    struct why_row *items;
    size_t count;
};

struct why_delivery {
    struct subscription subscription; /* a relay or a projection */
    struct str unreachable;           /* why the database of its tables is; empty: it is not */
    struct why_row_list rows;         /* of a projection, in its tables */
    bool is_rebuilding;               /* its tables: copies are being filled, or were left so */
    int64_t rebuilt_us;               /* when something was last done for that */
    enum why_delivery_state state;    /* of the newest event */
    int64_t behind;                   /* WAITING: events of its lane up to this one */
    int64_t readers;                  /* that are alive */
    struct str error;                 /* of the first that cannot go on; empty: none */
    struct trace_parked parked;
    struct trace_letter letter;
    struct trace_seek seek;
};

struct why_delivery_list {
    struct why_delivery *items; /* by name */
    size_t count;
};

/* ---- all of it ---- */

struct view_why {
    struct record_key key;
    struct str aggregate_type;
    struct why_source source;

    bool has_date;
    int64_t date_us; /* the record's own, or the one that was given */
    struct why_window_list windows;
    bool windows_are_full; /* there may be earlier ones */
    struct why_plan_list plans;
    struct why_rest rest;
    bool has_cursor;   /* of the harvest, by time */
    int64_t cursor_us; /* where it is */

    struct ended_task_list listed;
    struct signal_past_list signals;
    struct plan_progress taken; /* of the plan that took the newest signal, if one did */
    struct quarantined_list quarantine;

    struct why_alike_list alike;    /* where there is no record of exactly this id */
    struct why_import_list imports; /* where there is no source of this name */

    bool has_record;
    bool is_foreign; /* an aggregate of another service, whose type stands for a source: of
                        `record`, only the version counts */
    struct stored_record record;
    struct why_version_list versions;
    bool is_older_kept; /* a later look brought an older state, or none, and changed nothing */

    struct trace_sequencer sequencer;
    bool is_sequenced; /* the newest event is in the stream, or was and is gone */
    bool has_sequencer;
    struct why_delivery_list deliveries;

    struct why_finding_list findings;
    int64_t now_us;
};

/* Opens a session on another database than the store, where tables of a projection are. */
struct view_sinks {
    bool (*open)(struct view_sinks *sinks, const struct projection_spec *spec, struct store **sink,
                 struct error *err);
};

struct view_why_query {
    struct record_key key; /* endpoint '': the one that has it */
    bool has_date;
    int64_t date_us;          /* counts for a record that is not stored */
    struct view_sinks *sinks; /* NULL: such tables count as out of reach */
};

/* "record.endpoint" (L2) when several endpoints have the id; "why.endpoint" (L2) when the source
 * has no such endpoint for records. A source that does not exist is a finding. */
bool view_why(const struct view_reader *reader, const struct view_why_query *query,
              struct view_why *why, struct error *err) MUST_CHECK;
void view_why_write(struct json_writer *w, const struct view_why *why);

/* It is stored, is not deleted, and nothing is missing but what is as it should be: what settings
 * leave out, and states that are older than the stored one. */
bool view_why_is_there(const struct view_why *why);

#endif
