/* record: one item of a page, judged.
 *
 *      item ── id ── tombstone? ── date ── required fields ──▶ a record
 *               │                    │            │
 *               ╰────────────────────┴────────────┴──▶ quarantine, with reason and bytes (L3)
 *
 * The id is made of the source's id paths, joined by id_separator, in lower case where id_case says
 * so. A record whose source has dates (updated_at) and that has none is quarantined; tombstones may
 * go without. Where the source has no dates at all, the content hash decides what has changed.
 *
 * The payload is the item's own bytes as received. The content hash is a SHA-256, lower-case hex:
 *
 *   - over the payload where the source has dates: the date decides, the hash is a seal;
 *   - over the canonical JSON (RFC 8785) where it has none: then the hash decides, and a member
 *     moved or a blank added is no change. XML, and JSON that has no canonical form (a name twice),
 *     are hashed as they came.
 *
 * Canonical form runs at a tenth of the speed of reading, so it is made only where it matters; and
 * hash and fields are computed when they are asked for, because for a record that the store has
 * already nobody needs them.
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
    struct str provider_id; /* valid UTF-8 without NUL, 1 to RECORD_ID_MAX bytes */
    struct str payload;
    bool has_updated_at;
    int64_t updated_at_us;
    enum date_precision precision;
    struct str version;     /* the provider's own; empty: none. Decides where dates are equal */
    bool is_deleted;        /* a tombstone */
    struct str merged_into; /* of a tombstone: the id of the record that replaced it; empty: none */
    struct document_node node;
};

/* A record that could not be judged. The lineage is the store's to add. */
struct bad_record {
    size_t position;
    struct str provider_id; /* empty: none could be read */
    const char *reason;     /* "id.missing", "id.invalid", "date.missing", "date.syntax",
                             * "field.missing", "version.invalid", "item.type" */
    struct str detail;      /* for people: the path, and a sample of what stands there */
    struct str payload;
};

enum record_judgement { RECORD_GOOD, RECORD_BAD };

struct record_item {
    const struct reader *reader;
    const struct document *document;
    struct document_node node;
    size_t position;
};

/* False only for what is wrong with us: memory, or a path that takes too long. */
bool record_judge(const struct record_item *item, struct arena *arena,
                  enum record_judgement *judgement, struct record *record, struct bad_record *bad,
                  struct error *err) MUST_CHECK;

/* The id alone, for lists of ids; data is NULL when there is none that can be used. */
bool record_id(const struct record_item *item, struct arena *arena, struct str *id,
               struct error *err) MUST_CHECK;

/* An id as record_id makes it: with its letters' case as the source has them. */
bool record_id_normal(const struct spec_endpoint *endpoint, struct arena *arena, struct str text,
                      struct str *id, struct error *err) MUST_CHECK;

/* ---- when they are needed; the document must still be open ---- */

bool record_hash(const struct reader *reader, const struct document *document,
                 const struct record *record, struct arena *scratch, char hex[HASH_HEX_MAX],
                 struct error *err) MUST_CHECK;

/* The output fields of the source as one JSON object, names in the order of the source. */
bool record_fields(const struct reader *reader, const struct document *document,
                   const struct record *record, struct arena *arena, struct str *json,
                   struct error *err) MUST_CHECK;

#endif
