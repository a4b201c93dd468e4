/* A page of records: each read by both mappings, then one transaction. */
#include <assert.h>
#include <inttypes.h>

#include "base/text.h"
#include "engine/event/record_event.h"
#include "engine/fetch/reread.h"
#include "engine/rederive/rederive_internal.h"
#include "port/store_quarantine.h"

enum { PAGE_RECORDS = 100, TRIES_MAX = 10 };

#define REDERIVE_BY STR("patra rederive")

struct page {
    struct stored_record_list records;
    struct record_reading *readings; /* one per record */
    struct quarantined *bad;
    size_t bad_count;
    const struct stored_record **healed; /* that only the present mapping can read */
    size_t healed_count;
    struct rederive_result counts; /* added to the result when the page is written */
};

/* ---- one record ---- */

/* Its fields as the mapping that it has gives them. Where that mapping cannot read it, the fields
 * that were published are unknown: everything counts as changed. */
static bool old_fields(struct rederiving *r, const struct rederive_group *group,
                       const struct stored_record *stored, struct str *fields, bool *was_good,
                       struct error *err)
{
    const struct reread_from from = { .endpoint = group->from,
                                      .payload = stored->payload,
                                      .observed_us = stored->observed_us };
    struct record_fields made = { 0 };
    struct reread reread;
    bool ok = true;

    if (!reread_open(&reread, &r->page, &from, err))
        return false;
    *was_good = record_is_good(&reread.record);
    if (*was_good)
        ok = record_fields(&reread.origin, &reread.record, &made, err);
    *fields = made.published;
    reread_close(&reread);
    return ok;
}

static struct str date_text(struct arena *arena, bool has, int64_t at_us)
{
    return has ? text_instant_in(arena, at_us) : STR("");
}

/* What the record's row says itself. */
static bool compare_row(struct rederiving *r, const struct stored_record *stored,
                        const struct record_write *now, bool *differ, struct error *err)
{
    const struct rederive_difference all[] = {
        { stored->provider_id, STR("updatedAt"),
          date_text(&r->page, stored->has_updated, stored->updated_us),
          date_text(&r->page, now->has_updated, now->updated_us) },
        { stored->provider_id, STR("providerVersion"), stored->provider_version,
          now->provider_version },
        { stored->provider_id, STR("deleted"), STR("false"),
          now->is_deleted ? STR("true") : STR("false") },
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (str_eq(all[i].from, all[i].to))
            continue;
        *differ = true;
        if (!rederive_note(r, &all[i], err))
            return false;
    }
    return true;
}

static struct record_write row_of(const struct stored_record *stored, const struct record *record)
{
    struct record_write row = { .id = stored->id,
                                .version = stored->version,
                                .provider_id = stored->provider_id,
                                .has_updated = record->has_updated_at,
                                .updated_us = record->updated_at_us,
                                .provider_version = record->version,
                                .is_deleted = record->is_deleted,
                                .was_deleted = stored->is_deleted,
                                .observed_us = stored->observed_us,
                                .content_hash = stored->content_hash };

    /* As when it is fetched: a tombstone without a date or version keeps those of the record. */
    if (record->is_deleted && !record->has_updated_at) {
        row.has_updated = stored->has_updated;
        row.updated_us = stored->updated_us;
    }
    if (record->is_deleted && record->version.len == 0)
        row.provider_version = stored->provider_version;
    return row;
}

static bool make_event(struct rederiving *r, const struct rederive_group *group,
                       const struct stored_record *stored, const struct reread *now,
                       struct record_change *change, struct error *err)
{
    const struct record_context context = { .source = stored->source,
                                            .endpoint = group->endpoint,
                                            .expr_hash = str_of(group->new_hash),
                                            .lineage = stored->lineage,
                                            .now_us = r->request->now_us };
    /* For consumers: the source's record is the same. */
    const struct record_event_cause cause = { .is_later = true, .is_rederived = true };
    const struct record_event_ids ids = { .arena = &r->page,
                                          .random = r->request->random,
                                          .state = &r->event_ids,
                                          .now_us = r->request->now_us };
    const struct str aggregate = record_event_aggregate(&r->page, &context);

    if (aggregate.data == NULL)
        return arena_error(&r->page, err);
    change->event.event_type =
        change->record.is_deleted ? RECORD_EVENT_DELETED : STR("RecordUpdated");
    return record_event_make(change, &context, &cause, &now->origin, &now->record, err) &&
           record_event_name(change, &ids, aggregate, err);
}

static bool hash_record(struct rederiving *r, const struct reread *now, struct str *hash,
                        struct error *err)
{
    char *hex = arena_alloc_raw(&r->page, HASH_HEX_MAX);

    if (hex == NULL)
        return arena_error(&r->page, err);
    if (!record_hash(&now->origin, &now->record, hex, err))
        return false;
    *hash = str_of(hex);
    return true;
}

/* A record that the present mapping can read. */
static bool take_good(struct rederiving *r, const struct rederive_group *group, struct page *page,
                      size_t i, const struct reread *now, struct error *err)
{
    const struct stored_record *stored = &page->records.items[i];
    struct record_change *change = &page->readings[i].change;
    struct record_fields after;
    struct str before;
    bool differ = false, was_good;

    change->record = row_of(stored, &now->record);
    if (!old_fields(r, group, stored, &before, &was_good, err) ||
        !record_fields(&now->origin, &now->record, &after, err) ||
        !hash_record(r, now, &change->record.content_hash, err) ||
        !compare_row(r, stored, &change->record, &differ, err) ||
        (!now->record.is_deleted &&
         !rederive_compare(r, stored->provider_id, before, after.published, &differ, err)))
        return false;
    change->record.fields = after.stored; /* also where nothing visible changed: its types may */
    if (!was_good)
        page->healed[page->healed_count++] = stored;
    if (!differ && was_good) {
        page->counts.unchanged++;
        return true;
    }
    page->counts.changed++;
    page->counts.deleted += now->record.is_deleted;
    change->record.version++;
    return r->request->is_dry || make_event(r, group, stored, now, change, err);
}

/* One that it cannot read keeps its last good state; what is wrong is in quarantine. */
static void take_bad(const struct rederiving *r, const struct rederive_group *group,
                     struct page *page, size_t i, const struct record *record)
{
    const struct stored_record *stored = &page->records.items[i];
    struct quarantined *row = &page->bad[page->bad_count++];
    const bool is_other = record_is_good(record);

    page->readings[i].change.record =
        (struct record_write){ .id = stored->id,
                               .version = stored->version,
                               .has_updated = stored->has_updated,
                               .updated_us = stored->updated_us,
                               .provider_version = stored->provider_version,
                               .content_hash = stored->content_hash };
    *row = (struct quarantined){ .source = stored->source,
                                 .endpoint = group->endpoint,
                                 .provider_id = stored->provider_id,
                                 .reason = is_other ? STR("id.changed") : str_of(record->reason),
                                 .detail = is_other ? record->provider_id : record->detail,
                                 .lineage = stored->lineage,
                                 .observed_us = stored->observed_us,
                                 .created_us = r->request->now_us,
                                 .payload = stored->payload };
    row->lineage.batch_id = 0; /* it is not an item of that batch's response */
    page->counts.bad++;
}

static bool take(struct rederiving *r, const struct rederive_group *group, struct page *page,
                 size_t i, struct error *err)
{
    const struct stored_record *stored = &page->records.items[i];
    const struct reread_from from = { .endpoint = group->to,
                                      .payload = stored->payload,
                                      .observed_us = stored->observed_us };
    struct reread now;
    bool ok = true;

    page->readings[i].was = stored->version;
    if (!reread_open(&now, &r->page, &from, err))
        return false;
    if (record_is_good(&now.record) && str_eq(now.record.provider_id, stored->provider_id))
        ok = take_good(r, group, page, i, &now, err);
    else
        take_bad(r, group, page, i, &now.record);
    reread_close(&now);
    return ok || error_wrap(err, "record %.*s", STR_ARG(stored->provider_id));
}

/* ---- one page ---- */

static bool read_page(struct rederiving *r, const struct rederive_group *group, int64_t after_id,
                      int64_t limit, struct page *page, struct error *err)
{
    const struct expr_page of = { .source = group->old.source,
                                  .endpoint = group->endpoint,
                                  .expr_hash = group->old.expr_hash,
                                  .after_id = after_id,
                                  .limit = limit };

    *page = (struct page){ 0 };
    if (!store_expr_records(r->store, &r->page, &of, &page->records, err))
        return false;
    page->readings = ARENA_ARRAY(&r->page, struct record_reading, page->records.count);
    page->bad = ARENA_ARRAY(&r->page, struct quarantined, page->records.count);
    page->healed = ARENA_ARRAY(&r->page, const struct stored_record *, page->records.count);
    if (r->page.failed)
        return arena_error(&r->page, err);
    for (size_t i = 0; i < page->records.count; i++) {
        if (!take(r, group, page, i, err))
            return false;
    }
    page->counts.read = (int64_t)page->records.count;
    return true;
}

/* What was quarantined later than this state was observed stays: it is another state. */
static bool resolve_one(struct rederiving *r, const struct stored_record *record, struct error *err)
{
    const struct quarantine_replace replace = { .source = record->source,
                                                .endpoint = record->endpoint,
                                                .provider_ids = &record->provider_id,
                                                .count = 1,
                                                .observed_us = record->observed_us,
                                                .by = REDERIVE_BY,
                                                .note = STR("the stored record can be read again"),
                                                .now_us = r->request->now_us };
    int64_t count;

    return store_quarantine_replace(r->store, &replace, &count, err);
}

static bool settle_quarantine(struct rederiving *r, const struct page *page, struct error *err)
{
    int64_t count;

    for (size_t i = 0; i < page->healed_count; i++) {
        if (!resolve_one(r, page->healed[i], err))
            return false;
    }
    return page->bad_count == 0 ||
           store_quarantine_add(r->store, page->bad, page->bad_count, &count, err);
}

static bool write_page(struct rederiving *r, const struct rederive_group *group,
                       const struct page *page, bool *written, struct error *err)
{
    const struct expr_write write = { .old_hash = group->old.expr_hash,
                                      .new_hash = str_of(group->new_hash),
                                      .readings = page->readings,
                                      .count = page->records.count };

    *written = true;
    if (r->request->is_dry)
        return true;
    if (!store_begin(r->store, err))
        return false;
    if (!store_expr_write(r->store, &write, written, err) ||
        (*written && !settle_quarantine(r, page, err)))
        goto rollback;
    if (!*written) {
        store_rollback(r->store);
        return true;
    }
    return store_commit(r->store, err);
rollback:
    store_rollback(r->store);
    return false;
}

static void add_counts(struct rederive_result *sum, const struct rederive_result *page)
{
    sum->read += page->read;
    sum->changed += page->changed;
    sum->deleted += page->deleted;
    sum->unchanged += page->unchanged;
    sum->bad += page->bad;
}

/* Examples are counted again when a page is read again; a race is rare, and they are estimates for
 * people. Payloads that do not fit together are read one by one. */
static bool run_page(struct rederiving *r, const struct rederive_group *group, int64_t *after_id,
                     bool *has_more, struct error *err)
{
    int64_t limit = PAGE_RECORDS;
    struct page page;

    for (int tries = 0; tries < TRIES_MAX; tries++) {
        bool written = false;

        arena_reset(&r->page);
        if (!read_page(r, group, *after_id, limit, &page, err)) {
            if (!r->page.failed || limit == 1)
                return false;
            limit = 1;
            continue;
        }
        if (page.records.count > 0 && !write_page(r, group, &page, &written, err) &&
            !store_error_is_conflict(err))
            return false;
        if (page.records.count > 0 && !written)
            continue;
        *has_more = (int64_t)page.records.count == limit;
        if (page.records.count > 0)
            *after_id = page.records.items[page.records.count - 1].id;
        add_counts(r->result, &page.counts);
        return true;
    }
    return error_set(err, ERROR_TRANSIENT, "rederive.raced",
                     "other workers wrote the same records first, again and again");
}

bool rederive_group_run(struct rederiving *r, const struct rederive_group *group, struct error *err)
{
    const struct rederive_request *request = r->request;
    int64_t after_id = 0;
    bool has_more = true;

    while (has_more) {
        if (request->records_max > 0 && r->result->read >= request->records_max) {
            r->result->is_left = true;
            return true;
        }
        if (!run_page(r, group, &after_id, &has_more, err))
            return false;
        if (request->listener != NULL)
            request->listener->page(request->listener, r->result);
    }
    return true;
}
