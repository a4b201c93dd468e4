/* The parts of why.h: each gathers or judges one stretch of the way. */
#ifndef PATRA_VIEW_WHY_INTERNAL_H
#define PATRA_VIEW_WHY_INTERNAL_H

#include "view/why.h"

/* Rows of each kind that are shown: the newest ones. */
enum { WHY_ROWS_MAX = 20 };

/* ---- gathering ---- */

/* The operations of the endpoint; finds the endpoint where none was named and none has the record.
 */
bool why_source_read(const struct view_reader *reader, struct view_why *why,
                     struct error *err) MUST_CHECK;
bool why_windows_read(const struct view_reader *reader, struct view_why *why,
                      struct error *err) MUST_CHECK;
bool why_versions_read(const struct view_reader *reader, struct view_why *why,
                       struct error *err) MUST_CHECK;
bool why_deliveries_read(const struct view_reader *reader, struct view_sinks *sinks,
                         struct view_why *why, struct error *err) MUST_CHECK;

/* Ids like this one, in the whole store. */
bool why_alike_read(const struct view_reader *reader, struct view_why *why,
                    struct error *err) MUST_CHECK;
/* Whether it is an aggregate of another service. */
bool why_foreign_read(const struct view_reader *reader, struct view_why *why,
                      struct error *err) MUST_CHECK;

/* How many of these are alive; *error is that of the first that has one. */
int64_t why_alive(const struct reader_state_list *readers, int64_t now_us, struct str *error);

/* The event of the newest version; NULL where it is gone. */
const struct trace_event *why_newest_event(const struct view_why *why);

/* Where the tables of a projection are. A database that is out of reach is no failure: *sink is
 * NULL then, and delivery->unreachable says why. The session is the caller's. */
bool why_projection_open(const struct view_reader *reader, struct view_sinks *sinks,
                         const struct projection_spec *spec, struct why_delivery *delivery,
                         struct store **sink, struct error *err) MUST_CHECK;
/* What its tables have of the record. */
bool why_projection_rows(const struct view_reader *reader, const struct view_why *why,
                         struct store *sink, const struct projection_spec *spec,
                         struct why_delivery *delivery, struct error *err) MUST_CHECK;

/* ---- judging ---- */

/* The findings of all steps. */
bool why_judge(struct view_why *why, struct arena *arena, struct error *err) MUST_CHECK;
bool why_judge_deliveries(struct view_why *why, struct arena *arena, struct error *err) MUST_CHECK;
bool why_judge_imports(struct view_why *why, struct arena *arena, struct error *err) MUST_CHECK;
/* The id in another case, or of another source. */
bool why_judge_case(struct view_why *why, struct arena *arena, struct error *err) MUST_CHECK;
bool why_judge_others(struct view_why *why, struct arena *arena, struct error *err) MUST_CHECK;

/* False when the arena is full, also where the finding's own texts did not fit. */
bool why_find(struct view_why *why, struct arena *arena, const struct why_finding *finding,
              struct error *err) MUST_CHECK;

/* What may be missing of a record that is there. */
#define WHY_REASON_FILTERED "subscription.filtered"
#define WHY_REASON_OLDER "record.older"
#define WHY_REASON_LEFT_OUT "projection.filtered"

struct str why_span(struct arena *arena, int64_t span_us); /* "3d 4h" */

/* ---- commands (why_command.c): as they are typed; data is NULL when the arena is full ---- */

/* A word as a shell takes it. */
struct str why_word(struct arena *arena, struct str text);

/* "patra harvest crossref"; with --operation where the word alone is not enough. */
struct str why_command(const struct view_why *why, struct arena *arena, enum operation operation);
struct str why_command_window(const struct view_why *why, struct arena *arena,
                              enum operation operation, struct window window);

/* What requests the record by its id; empty where nothing can. */
struct str why_command_id(const struct view_why *why, struct arena *arena);

/* What requests it again: by its id, or else the day of its date, or else empty. */
struct str why_command_again(const struct view_why *why, struct arena *arena);

#endif
