/* Archived responses and their dictionaries: store_archive_ops. */
#include "port/store_archive.h"

#include "adapter/sql/session.h"

static const char PUT[] =
    "INSERT INTO ing_archive_body (hash, provenance_code, endpoint_name, dictionary_id, raw_bytes,"
    " packed_bytes, used_at, packed)"
    " VALUES (:hash, :source, :endpoint, :dictionary, :raw, :length, :used, :packed)"
    " ON CONFLICT (hash) DO UPDATE SET used_at = {greatest}(ing_archive_body.used_at,"
    "   excluded.used_at)";

static bool archive_put(struct store *store, const struct archived_body *body, struct error *err)
{
    struct statement *st = statement_of(store, PUT);

    bind_text(st, ":hash", body->hash);
    bind_text(st, ":source", body->source);
    bind_text(st, ":endpoint", body->endpoint);
    bind_i64_opt(st, ":dictionary", body->dictionary_id > 0, body->dictionary_id);
    bind_i64(st, ":raw", body->raw_bytes);
    bind_i64(st, ":length", (int64_t)body->packed.len);
    bind_instant(st, ":used", body->used_us);
    bind_bytes(st, ":packed", body->packed);
    return statement_run(st, NULL, err) || error_wrap(err, "archive a response");
}

static const char GET[] = "SELECT hash, provenance_code, endpoint_name, dictionary_id, raw_bytes,"
                          " used_at, packed FROM ing_archive_body WHERE hash = :hash";

static bool archive_get(struct store *store, struct arena *arena, struct str hash,
                        struct archived_body *body, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, GET);

    bind_text(st, ":hash", hash);
    *found = rows_next(&st->rows);
    if (*found) {
        body->hash = rows_text(&st->rows, arena);
        body->source = rows_text(&st->rows, arena);
        body->endpoint = rows_text(&st->rows, arena);
        body->dictionary_id = rows_i64(&st->rows);
        body->raw_bytes = rows_i64(&st->rows);
        body->used_us = rows_i64(&st->rows);
        body->packed = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "read an archived response");
}

static const char SAMPLE[] = "SELECT hash FROM ing_archive_body"
                             " WHERE provenance_code = :source AND endpoint_name = :endpoint"
                             " ORDER BY used_at DESC LIMIT :limit";

static bool archive_sample(struct store *store, struct arena *arena, struct str source,
                           struct str endpoint, int64_t limit, struct archive_hash_list *hashes,
                           struct error *err)
{
    struct statement *st = statement_of(store, SAMPLE);
    struct str *hash;

    *hashes = (struct archive_hash_list){ 0 };
    bind_text(st, ":source", source);
    bind_text(st, ":endpoint", endpoint);
    bind_i64(st, ":limit", limit);
    while ((hash = ROWS_NEXT(&st->rows, arena, hashes)) != NULL)
        *hash = rows_text(&st->rows, arena);
    return rows_finish(&st->rows, err) || error_wrap(err, "list archived responses");
}

/* ---- dictionaries ---- */

static void bind_key(struct statement *st, const struct dictionary_key *key)
{
    bind_text(st, ":source", key->source);
    bind_text(st, ":endpoint", key->endpoint);
    bind_bool(st, ":of_payloads", key->of_payloads);
}

static const char DICTIONARY_ADD[] =
    "INSERT INTO ing_archive_dictionary (provenance_code, endpoint_name, of_payloads, created_at,"
    " bytes) VALUES (:source, :endpoint, :of_payloads, :now, :bytes)";

static bool dictionary_add(struct store *store, const struct dictionary_key *key, struct str bytes,
                           int64_t now_us, struct error *err)
{
    struct statement *st = statement_of(store, DICTIONARY_ADD);

    bind_key(st, key);
    bind_instant(st, ":now", now_us);
    bind_bytes(st, ":bytes", bytes);
    return statement_run(st, NULL, err) || error_wrap(err, "add a dictionary");
}

static const char DICTIONARY_LAST[] =
    "SELECT id, created_at FROM ing_archive_dictionary WHERE provenance_code = :source"
    " AND endpoint_name = :endpoint AND of_payloads = :of_payloads ORDER BY id DESC LIMIT 1";

static bool dictionary_last(struct store *store, const struct dictionary_key *key,
                            struct archive_dictionary *dictionary, struct error *err)
{
    struct statement *st = statement_of(store, DICTIONARY_LAST);

    *dictionary = (struct archive_dictionary){ 0 };
    bind_key(st, key);
    if (rows_next(&st->rows)) {
        dictionary->id = rows_i64(&st->rows);
        dictionary->created_us = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "find a dictionary");
}

static const char DICTIONARY_GET[] =
    "SELECT id, created_at, bytes FROM ing_archive_dictionary WHERE id = :id";

static bool dictionary_get(struct store *store, struct arena *arena, int64_t id,
                           struct archive_dictionary *dictionary, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, DICTIONARY_GET);

    *dictionary = (struct archive_dictionary){ 0 };
    bind_i64(st, ":id", id);
    *found = rows_next(&st->rows);
    if (*found) {
        dictionary->id = rows_i64(&st->rows);
        dictionary->created_us = rows_i64(&st->rows);
        dictionary->bytes = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "read a dictionary");
}

/* ---- batches ---- */

static const char BATCHES[] =
    "SELECT batch.id, batch.run_id, batch.batch_no FROM ing_task_run_batch AS batch"
    " JOIN ing_archive_body AS body ON body.hash = batch.body_hash"
    " WHERE batch.id > :after AND batch.body_hash IS NOT NULL"
    "   AND batch.status_code = 'SUCCEEDED' AND body.provenance_code = :source"
    " ORDER BY batch.id LIMIT :limit";

static bool archive_batches(struct store *store, struct arena *arena, struct str source,
                            struct store_page page, struct archived_batch_list *list,
                            struct error *err)
{
    struct statement *st = statement_of(store, BATCHES);
    struct archived_batch *batch;

    *list = (struct archived_batch_list){ 0 };
    bind_text(st, ":source", source);
    bind_i64(st, ":after", page.after);
    bind_i64(st, ":limit", page.limit);
    while ((batch = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        batch->id = rows_i64(&st->rows);
        batch->run_id = rows_i64(&st->rows);
        batch->number = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "list archived batches");
}

/* ---- size and age ---- */

static const char SUM[] = "SELECT count(*), CAST(coalesce(sum(raw_bytes), 0) AS bigint),"
                          " CAST(coalesce(sum(packed_bytes), 0) AS bigint) FROM ing_archive_body"
                          " WHERE provenance_code = :source AND endpoint_name = :endpoint";

static bool archive_sum(struct store *store, struct str source, struct str endpoint,
                        struct archive_sum *sum, struct error *err)
{
    struct statement *st = statement_of(store, SUM);

    *sum = (struct archive_sum){ 0 };
    bind_text(st, ":source", source);
    bind_text(st, ":endpoint", endpoint);
    if (rows_next(&st->rows)) {
        sum->bodies = rows_i64(&st->rows);
        sum->raw_bytes = rows_i64(&st->rows);
        sum->packed_bytes = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "measure the archive");
}

/* A body goes when it is old, or when those that are newer take all the room. */
static const char PRUNE[] =
    "DELETE FROM ing_archive_body WHERE hash IN (SELECT hash FROM"
    " (SELECT hash, used_at, sum(packed_bytes) OVER (ORDER BY used_at DESC, hash) AS newer"
    "  FROM ing_archive_body WHERE provenance_code = :source AND endpoint_name = :endpoint) AS aged"
    " WHERE used_at < :before OR newer > :most ORDER BY used_at LIMIT :limit)";

static bool archive_prune(struct store *store, const struct archive_bound *bound, int64_t *removed,
                          struct error *err)
{
    struct statement *st = statement_of(store, PRUNE);

    bind_text(st, ":source", bound->source);
    bind_text(st, ":endpoint", bound->endpoint);
    bind_instant(st, ":before", bound->before_us);
    bind_i64(st, ":most", bound->bytes_max > 0 ? bound->bytes_max : INT64_MAX);
    bind_i64(st, ":limit", bound->limit);
    return statement_run(st, removed, err) || error_wrap(err, "prune the archive");
}

/* ---- evidence ---- */

static const char PACK_ADD[] =
    "INSERT INTO ing_evidence_pack (subject, path, sha256, reason, exported_by, created_at,"
    " expires_at) VALUES (:subject, :path, :sha, :reason, :by, :now, :expires) RETURNING id";

static bool evidence_add(struct store *store, const struct evidence_pack *pack, int64_t *id,
                         struct error *err)
{
    struct statement *st = statement_of(store, PACK_ADD);

    bind_text(st, ":subject", pack->subject);
    bind_text(st, ":path", pack->path);
    bind_text(st, ":sha", pack->sha256);
    bind_text(st, ":reason", pack->reason);
    bind_text(st, ":by", pack->exported_by);
    bind_instant(st, ":now", pack->created_us);
    bind_instant(st, ":expires", pack->expires_us);
    return rows_only_i64(&st->rows, id, err) || error_wrap(err, "note an export of evidence");
}

static const char PACKS[] =
    "SELECT id, subject, path, sha256, reason, exported_by, created_at, expires_at"
    " FROM ing_evidence_pack ORDER BY id DESC LIMIT :limit";

static bool evidence_list(struct store *store, struct arena *arena, int64_t limit,
                          struct evidence_pack_list *list, struct error *err)
{
    struct statement *st = statement_of(store, PACKS);
    struct rows *rows = &st->rows;
    struct evidence_pack *pack;

    *list = (struct evidence_pack_list){ 0 };
    bind_i64(st, ":limit", limit);
    while ((pack = ROWS_NEXT(rows, arena, list)) != NULL) {
        pack->id = rows_i64(rows);
        pack->subject = rows_text(rows, arena);
        pack->path = rows_text(rows, arena);
        pack->sha256 = rows_text(rows, arena);
        pack->reason = rows_text(rows, arena);
        pack->exported_by = rows_text(rows, arena);
        pack->created_us = rows_i64(rows);
        pack->expires_us = rows_i64(rows);
    }
    return rows_finish(rows, err) || error_wrap(err, "list exports of evidence");
}

const struct store_archive_ops SQL_ARCHIVE = {
    .pack_add = evidence_add,
    .packs = evidence_list,
    .put = archive_put,
    .get = archive_get,
    .sample = archive_sample,
    .dictionary_add = dictionary_add,
    .dictionary_last = dictionary_last,
    .dictionary_get = dictionary_get,
    .batches = archive_batches,
    .sum = archive_sum,
    .prune = archive_prune,
};
