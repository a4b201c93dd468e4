/* record: the records of a source, how many there are, and one of them with its history. */
#ifndef PATRA_VIEW_RECORD_H
#define PATRA_VIEW_RECORD_H

#include "data/json_write.h"
#include "engine/export/field_reader.h"
#include "port/store_outbox.h"
#include "port/store_record.h"
#include "port/store_record_read.h"
#include "view/reader.h"

/* ---- names ---- */

/* For what came out empty, because a name may be misspelled: false ("source.unknown",
 * "endpoint.unknown", L2) where there are no records under these names and the source in force has
 * no such endpoint. `endpoint` '' = any. */
bool view_record_names(const struct view_reader *reader, struct str source, struct str endpoint,
                       struct error *err) MUST_CHECK;

/* ---- many ---- */

struct view_record_list {
    struct record_entry_list records; /* without their payloads */
    struct str next;                  /* where the next page begins: "works/512"; '': nowhere */
};

/* An empty list is checked by view_record_names(). */
bool view_record_list(const struct view_reader *reader, const struct record_walk *walk,
                      struct view_record_list *list, struct error *err) MUST_CHECK;
void view_record_list_write(struct json_writer *w, const struct view_record_list *list);

/* One of them; `fields` NULL: without its fields. */
void view_record_entry_write(struct json_writer *w, const struct record_entry *entry,
                             const struct derived_fields *fields);

/* Reads what view_record_list.next says; false where the text is something else. */
bool view_record_place(struct str text, struct record_place *place) MUST_CHECK;

struct view_record_count {
    struct record_count records;
    int64_t quarantined; /* open */
};

struct view_record_count_list {
    struct view_record_count *items; /* by source and endpoint */
    size_t count;
};

/* Reads an entry of an index per record. `source` '' = all. */
bool view_record_counts(const struct view_reader *reader, struct str source,
                        struct view_record_count_list *list, struct error *err) MUST_CHECK;
void view_record_counts_write(struct json_writer *w, const struct view_record_count_list *list);

/* ---- one ---- */

struct view_record {
    struct stored_record record;
    int64_t changed_us; /* when its version was stored; 0: the event is gone */
    struct derived_fields fields;
    bool has_history; /* it was asked for */
    struct stored_event_list history;
    bool history_is_full; /* there are later events than these */
};

struct view_record_query {
    struct record_key key; /* endpoint '': the only one that has the id */
    bool with_history;
    struct spec_cache *specs;
};

/* "record.unknown" (L2) when there is none; "record.endpoint" (L2) when several endpoints have it.
 */
bool view_record(const struct view_reader *reader, const struct view_record_query *query,
                 struct view_record *record, struct error *err) MUST_CHECK;
bool view_record_write(struct json_writer *w, struct arena *arena, const struct view_record *record,
                       struct error *err) MUST_CHECK;

#endif
