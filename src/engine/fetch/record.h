/* record: one item of a page, judged.
 *
 *      item ── id ── tombstone? ── date ── version ── required fields ── size ──▶ a good record
 *               │                    │        │            │              │
 *               ╰────────────────────┴────────┴────────────┴──────────────┴──▶ a bad record (L3):
 *                                             quarantined with the reason and its bytes
 *
 * The id is made of the source's id paths, joined by id_separator, in lower case where id_case says
 * so. Different ids stay different, or the item is bad:
 *
 *   - Where a part itself contains the separator (its first byte, to be exact), a backslash comes
 *     before it; and before a backslash. "x:y" and "z" make x\:y:z, "x" and "y:z" make x:y\:z.
 *     Requests send the parts without backslashes (record_id_sent).
 *   - A string with half of a surrogate pair has no UTF-8 form: "id.invalid".
 *   - The number 1 and the string "1" are the same id. Where both are in one walk, the later one is
 *     "id.ambiguous" (id_kinds.h).
 *
 * Where the source has dates (updated_at), a record without one is bad, unless it is a
 * tombstone, or the source says that the date may be absent. Where the source has no dates, the
 * content hash decides what has changed.
 *
 * A record whose event would be too large to be published (EVENT_BYTES_MAX) is bad: "event.size".
 *
 * A date later than the request plus response.future_tolerance is not believed, because it would
 * keep every later state of the record out of the store. The record is good, but treated as one
 * without a date, and counted.
 *
 * The payload is the item's own bytes as received; in XML, with the declarations of the namespaces
 * that it uses and that are declared around it, so that any parser can read it. The content hash is
 * a SHA-256 in lower-case hex:
 *
 *   - of the payload where the source has dates;
 *   - of the canonical JSON (RFC 8785) where it has none. XML, and JSON without a canonical form (a
 *     name twice), are hashed as received.
 *
 * In JSON neither the order of members nor blanks are a change. The canonical form takes ten times
 * as long as reading the page, so with dates, where the hashes are nearly always equal, it is made
 * only of two records whose hashes differ (record_is_same). Hash and fields are computed on
 * request: a record that is older than the stored one needs neither.
 */
#ifndef PATRA_ENGINE_FETCH_RECORD_H
#define PATRA_ENGINE_FETCH_RECORD_H

#include <stdint.h>

#include "base/instant.h"
#include "data/date.h"
#include "data/hash.h"
#include "engine/fetch/reader.h"

/* The column's length, in bytes; DOIs and URLs are far shorter. */
enum { RECORD_ID_MAX = 1024 };

/* Unless the source says otherwise. Local times without an offset may be 14 hours early. */
#define RECORD_FUTURE_TOLERANCE_US US_PER_DAY

struct record {
    size_t position;        /* of the item on its page, from 0 */
    struct str provider_id; /* valid UTF-8 without NUL, 1 to RECORD_ID_MAX bytes; bad records: empty
                             * where none could be read */
    unsigned id_kinds;      /* bit i: part i of the id is a number or boolean, not a text */
    struct str payload;
    bool has_updated_at;
    int64_t updated_at_us;
    enum date_precision precision;
    bool is_future;         /* it has a date, which is not believed: has_updated_at is false */
    struct str version;     /* the provider's own; empty: none. Decides where dates are equal */
    bool is_deleted;        /* a tombstone */
    struct str merged_into; /* of a tombstone: the id of the record that replaced it; empty: none */
    struct document_node node;
    struct str hash;    /* of its content (record_hash), hex; data NULL: not made yet */
    const char *reason; /* why the record is bad: "id.missing", "id.invalid", "id.ambiguous",
                         * "date.missing", "date.syntax", "field.missing", "field.type",
                         * "field.value", "version.invalid", "event.size", "item.type"; NULL: it
                         * is good */
    struct str detail;  /* for people: the path, and a sample of the value found there */
};

static inline bool record_is_good(const struct record *record)
{
    return record->reason == NULL;
}

/* What records are read from, and into. */
struct record_origin {
    const struct reader *reader;
    const struct document *document; /* open */
    struct arena *arena;
    int64_t now_us; /* when the request was sent; 0: unknown, and all dates are believed */
};

/* Whether a date is early enough to be believed of a record that was observed at now_us. */
bool record_date_is_believed(const struct reader *reader, int64_t date_us, int64_t now_us);

/* Judges an item. False only for a failure of our own: memory, or a path that takes too long. */
bool record_judge(const struct record_origin *origin, struct document_node node, size_t position,
                  struct record *record, struct error *err) MUST_CHECK;

/* Only the id, for lists of ids: sets provider_id and id_kinds. Its data is NULL where there is
 * none that can be used. */
bool record_id(const struct record_origin *origin, struct document_node node, struct record *record,
               struct error *err) MUST_CHECK;

/* Makes a good record bad, because another item has the same id as a value of another type. */
bool record_refuse_id(const struct record_origin *origin, struct record *record,
                      struct error *err) MUST_CHECK;

/* An id as requests send it: without the backslashes of an id of several parts. */
bool record_id_sent(const struct spec_endpoint *endpoint, struct arena *arena, struct str id,
                    struct str *sent, struct error *err) MUST_CHECK;

/* An id in the form that record_id gives it: in lower case where id_case says so. */
bool record_id_normal(const struct spec_endpoint *endpoint, struct arena *arena, struct str text,
                      struct str *id, struct error *err) MUST_CHECK;

bool record_hash(const struct record_origin *origin, const struct record *record,
                 char hex[HASH_HEX_MAX], struct error *err) MUST_CHECK;

/* The hash is that of the canonical form: different hashes are different contents. */
bool record_hash_is_canonical(const struct record_origin *origin);

/* Whether a stored payload says the same as the record: JSON in another form. */
bool record_is_same(const struct record_origin *origin, const struct record *record,
                    struct str payload, struct arena *arena, bool *is_same,
                    struct error *err) MUST_CHECK;

/* The output fields of a record as JSON objects. */
struct record_fields {
    struct str published; /* for events, names in the order of the source; a tombstone has none: ""
                           */
    struct str stored; /* for the views of the store (core/record_view.h); "" where the source has
                          no fields */
};
bool record_fields(const struct record_origin *origin, const struct record *record,
                   struct record_fields *fields, struct error *err) MUST_CHECK;

/* The payload as a JSON value: JSON as it is, XML as a string. */
bool record_payload_json(const struct record_origin *origin, const struct record *record,
                         struct str *json, struct error *err) MUST_CHECK;

#endif
