/* record: one item of a page, judged.
 *
 *      item ── id ── tombstone? ── date ── version ── required fields ──▶ a good record
 *               │                    │        │            │
 *               ╰────────────────────┴────────┴────────────┴──▶ a bad record (L3): quarantined
 *                                                               with the reason and its bytes
 *
 * The id is made of the source's id paths, joined by id_separator, in lower case where id_case says
 * so. Where the source has dates (updated_at), a record without one is bad, unless it is a
 * tombstone. Where the source has no dates, the content hash decides what has changed.
 *
 * The payload is the item's own bytes as received. The content hash is a SHA-256 in lower-case hex:
 *
 *   - of the payload where the source has dates: the date decides, and the hash is a seal;
 *   - of the canonical JSON (RFC 8785) where it has none: the hash decides, and neither the order
 * of members nor blanks count as a change. XML, and JSON without a canonical form (a name twice),
 *     are hashed as received.
 *
 * To make the canonical form takes ten times as long as to read the page, so it is made only where
 * it matters. Hash and fields are computed on request: a record that the store already has needs
 * neither.
 */
#ifndef PATRA_ENGINE_FETCH_RECORD_H
#define PATRA_ENGINE_FETCH_RECORD_H

#include <stdint.h>

#include "data/date.h"
#include "data/hash.h"
#include "engine/fetch/reader.h"

/* The column's length, in bytes; DOIs and URLs are far shorter. */
enum { RECORD_ID_MAX = 1024 };

struct record {
    size_t position;        /* of the item on its page, from 0 */
    struct str provider_id; /* valid UTF-8 without NUL, 1 to RECORD_ID_MAX bytes; bad records: empty
                             * where none could be read */
    struct str payload;
    bool has_updated_at;
    int64_t updated_at_us;
    enum date_precision precision;
    struct str version;     /* the provider's own; empty: none. Decides where dates are equal */
    bool is_deleted;        /* a tombstone */
    struct str merged_into; /* of a tombstone: the id of the record that replaced it; empty: none */
    struct document_node node;
    const char *reason; /* why the record is bad: "id.missing", "id.invalid", "date.missing",
                         * "date.syntax", "field.missing", "version.invalid", "item.type"; NULL: it
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
};

/* Judges an item. False only for a failure of our own: memory, or a path that takes too long. */
bool record_judge(const struct record_origin *origin, struct document_node node, size_t position,
                  struct record *record, struct error *err) MUST_CHECK;

/* Only the id, for lists of ids. data is NULL where there is none that can be used. */
bool record_id(const struct record_origin *origin, struct document_node node, struct str *id,
               struct error *err) MUST_CHECK;

/* An id in the form that record_id gives it: in lower case where id_case says so. */
bool record_id_normal(const struct spec_endpoint *endpoint, struct arena *arena, struct str text,
                      struct str *id, struct error *err) MUST_CHECK;

bool record_hash(const struct record_origin *origin, const struct record *record,
                 char hex[HASH_HEX_MAX], struct error *err) MUST_CHECK;

/* The output fields of the source as one JSON object, names in the order of the source. */
bool record_fields(const struct record_origin *origin, const struct record *record,
                   struct str *json, struct error *err) MUST_CHECK;

#endif
