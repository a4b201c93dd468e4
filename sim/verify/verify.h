/* verify: compares a patra store with the truth.
 *
 * Reads the store's records (read-only) and the truth, both in the order of ids, and counts each
 * kind of difference:
 *
 *      missing          must be held, and is not
 *      extra            is held, and did not exist by then
 *      stale            an older version is held
 *      wrong            bytes are held that were never served
 *      lost_tombstone   it is deleted, and the store holds it as live
 *      buried           it is live, and the store holds it as deleted
 *      misdated         the right bytes, with an updated_at that is not theirs
 */
#ifndef PATRA_SIM_VERIFY_VERIFY_H
#define PATRA_SIM_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"
#include "sim/truth/truth.h"

/* ---- one side: the store ---- */

/* patra stores an XML record as a document of its own: with the namespaces that the envelope
 * declares. The truth is about the record's bytes in the response, so what was added is left out of
 * the digest: what comes after <record in the payloads of OAI-PMH. */
#define VERIFY_ELEMENT "<record"
#define VERIFY_ADDED " xmlns=\"http://www.openarchives.org/OAI/2.0/\""

struct store_row {
    struct str id; /* valid until the next row */
    bool has_date;
    int64_t updated_us;
    bool deleted;
    uint8_t digest[TRUTH_DIGEST_BYTES]; /* of the payload, without VERIFY_ADDED */
};

struct store_reader {
    /* The next row in the byte order of ids; *end when there is none. */
    bool (*next)(struct store_reader *reader, struct store_row *row, bool *end, struct error *err);
    void (*close)(struct store_reader *reader);
};

/* "sqlite:PATH" or a plain path; "postgresql://..." or "postgres://...". `endpoint` may be empty
 * when the source has only one. */
struct store_reader *store_reader_open(struct str dsn, struct str source, struct str endpoint,
                                       struct error *err) MUST_CHECK;
struct store_reader *store_reader_sqlite(struct str path, struct str source, struct str endpoint,
                                         struct error *err) MUST_CHECK;
struct store_reader *store_reader_postgres(struct str dsn, struct str source, struct str endpoint,
                                           struct error *err) MUST_CHECK;

/* ---- the other side: the truth ---- */

struct truth_line {
    struct str id; /* valid until the next line */
    enum truth_state state;
    int64_t updated_us;
    uint8_t digest[TRUTH_DIGEST_BYTES];
};

/* What the truth says about an id that the store holds with these bytes. */
struct truth_look {
    bool exists; /* visible by then, in any state */
    enum truth_state state;
    bool served; /* a version with these bytes was visible */
};

struct truth_reader {
    const struct body_form *form;
    int64_t zone_us; /* the time zone of the form's dates */
    /* The next record that must be held. */
    bool (*next)(struct truth_reader *reader, struct truth_line *line, bool *end,
                 struct error *err);
    bool (*look)(struct truth_reader *reader, struct str id, const uint8_t *digest,
                 struct truth_look *look, struct error *err);
    void (*close)(struct truth_reader *reader);
};

/* A world opened here, or that of a running server ("http://127.0.0.1:8080"); `params` is the query
 * of /_sim/truth. */
struct truth_reader *truth_reader_local(const struct world_options *options,
                                        const struct truth_query *query,
                                        struct error *err) MUST_CHECK;
struct truth_reader *truth_reader_remote(struct str url, struct str params,
                                         const struct body_form *form,
                                         struct error *err) MUST_CHECK;

/* ---- the comparison ---- */

enum difference {
    DIFF_MISSING,
    DIFF_EXTRA,
    DIFF_STALE,
    DIFF_WRONG,
    DIFF_LOST_TOMBSTONE,
    DIFF_BURIED,
    DIFF_MISDATED,
    DIFF_COUNT,
};

enum { VERIFY_SHOW_MAX = 1000, VERIFY_MAPS_MAX = 8 };

struct verify_options {
    size_t show;            /* how many ids of each kind to remember */
    bool absent_tombstones; /* a deleted record need not be held at all */
    /* A store may write ids differently: in an id of the truth, `from` is replaced by `to` once.
     * The order of ids must stay the same. */
    struct id_map {
        struct str from;
        struct str to;
    } maps[VERIFY_MAPS_MAX];
    size_t map_count;
};

struct verify_report {
    size_t expected[TRUTH_MOVED + 1]; /* by state */
    size_t rows;
    size_t right;
    size_t allowed; /* held, but not required: gone or moved */
    size_t undated; /* right, but without a date to compare */
    size_t counts[DIFF_COUNT];
    struct str ids[DIFF_COUNT][VERIFY_SHOW_MAX]; /* the first ones, in the arena */
};

bool verify_compare(struct arena *arena, struct store_reader *store, struct truth_reader *truth,
                    const struct verify_options *options, struct verify_report *report,
                    struct error *err) MUST_CHECK;

#endif
