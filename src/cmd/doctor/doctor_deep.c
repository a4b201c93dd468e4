/* Whether records are what they were when they were stored, and as many as is said. */
#include <inttypes.h>

#include "cmd/doctor/doctor.h"
#include "core/limits.h"
#include "data/hash.h"
#include "data/json_canonical.h"
#include "port/store_health.h"

enum { PAGE_RECORDS = 200, NAMED_MAX = 20 };

static bool has_hash(struct str bytes, struct str hash, bool *has, struct error *err)
{
    char hex[HASH_HEX_MAX];
    struct hash_sum sum;

    if (!hash_of(bytes, &sum, err))
        return false;
    hash_hex(&sum, hex);
    *has = str_eq(str_of(hex), hash);
    return true;
}

/* The hash is of the bytes or, for JSON without dates, of their canonical form
 * (engine/fetch/record.h). */
static bool is_intact(struct arena *arena, const struct health_payload *item, bool *intact,
                      struct error *err)
{
    struct error unread; /* no JSON, or without a canonical form: then only the bytes count */
    struct str canonical;

    *intact = false;
    if (item->is_broken)
        return true;
    if (!has_hash(item->payload, item->content_hash, intact, err))
        return false;
    return *intact || !json_canonical_text(arena, item->payload, &canonical, &unread) ||
           has_hash(canonical, item->content_hash, intact, err);
}

static void name_record(struct doctor *d, const struct health_payload *item)
{
    struct arena *arena = &d->session->arena;

    doctor_add(
        d, "record.content",
        arena_printf(arena, "record %.*s of %.*s/%.*s is not what was stored: %s",
                     STR_ARG(item->provider_id), STR_ARG(item->source), STR_ARG(item->endpoint),
                     item->is_broken ? "it cannot be unpacked" : "its hash differs"),
        arena_printf(arena,
                     "Restore a backup, or have it fetched again as if it had changed: "
                     "UPDATE ing_record_state SET content_hash = substr(content_hash, 1, 0) WHERE "
                     "id = %" PRId64 ", then patra replay over its date",
                     item->id));
}

static bool check_contents(struct doctor *d, struct error *err)
{
    struct health_payload_list page = { 0 };
    struct arena arena;
    int64_t wrong = 0, after_id = 0;
    bool ok = true;

    d->checks++;
    arena_init(&arena, BATCH_BYTES_MAX);
    do {
        arena_reset(&arena);
        ok = store_health_payloads(d->session->store, &arena, after_id, PAGE_RECORDS, &page, err);
        for (size_t i = 0; ok && i < page.count; i++) {
            bool intact = false;

            ok = is_intact(&arena, &page.items[i], &intact, err);
            if (ok && !intact && wrong++ < NAMED_MAX)
                name_record(d, &page.items[i]);
            after_id = page.items[i].id;
        }
    } while (ok && page.count == PAGE_RECORDS);
    if (wrong > NAMED_MAX)
        doctor_add(d, "record.content",
                   arena_printf(&d->session->arena,
                                "%" PRId64 " more records are not what was stored",
                                wrong - NAMED_MAX),
                   STR("Restore a backup"));
    arena_release(&arena);
    return ok;
}

/* ---- their number ---- */

static void name_count(struct doctor *d, const struct health_count *item)
{
    struct arena *arena = &d->session->arena;

    doctor_add(d, "record.count",
               arena_printf(arena,
                            "%.*s/%.*s has %" PRId64 " records and %" PRId64
                            " deleted ones, but %" PRId64 " and %" PRId64 " are shown",
                            STR_ARG(item->source), STR_ARG(item->endpoint), item->live,
                            item->deleted, item->kept_live, item->kept_deleted),
               arena_printf(arena,
                            "Somebody has written or removed rows. The number is only shown; set "
                            "it right: INSERT INTO ing_record_tally (endpoint_id, live, deleted) "
                            "VALUES (%" PRId64 ", %" PRId64 ", %" PRId64 ")",
                            item->endpoint_id, item->live - item->kept_live,
                            item->deleted - item->kept_deleted));
}

static bool check_counts(struct doctor *d, struct error *err)
{
    struct health_count_list list;

    d->checks++;
    if (!store_health_miscounts(d->session->store, &d->session->arena, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++)
        name_count(d, &list.items[i]);
    return true;
}

bool doctor_deep(struct doctor *d, struct error *err)
{
    return check_contents(d, err) && check_counts(d, err);
}
