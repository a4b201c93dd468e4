/* Finds or makes the dictionary of an endpoint's payloads, and packs with it. */
#include "engine/archive/payload_pack.h"

#include "core/limits.h"
#include "port/store_record_read.h"

/* A dictionary that cannot be made yet is tried again ever more rarely: an endpoint may have few
 * records for ever, or such that have nothing in common. */
enum { MEMORY_MAX = 16 << 20, GAP_MAX = 1024 };

void payload_pack_init(struct payload_pack *pack, struct store *store,
                       bool (*packer_open)(struct body_packer **packer, struct error *err))
{
    *pack = (struct payload_pack){ .store = store, .packer_open = packer_open };
    arena_init(&pack->memory, MEMORY_MAX);
}

static void forget(struct payload_pack *pack)
{
    body_packer_close(pack->packer);
    pack->packer = NULL;
    pack->dictionary = (struct archive_dictionary){ 0 };
    arena_reset(&pack->memory);
}

void payload_pack_release(struct payload_pack *pack)
{
    if (pack->store == NULL)
        return;
    forget(pack);
    arena_release(&pack->memory);
    *pack = (struct payload_pack){ 0 };
}

/* ---- making a dictionary ---- */

static bool is_due(struct payload_pack *pack)
{
    if (pack->waits > 0) {
        pack->waits--;
        return false;
    }
    pack->gap = 2 * pack->gap + 1;
    if (pack->gap > GAP_MAX)
        pack->gap = GAP_MAX;
    pack->waits = pack->gap;
    return true;
}

static bool first_records(struct payload_pack *pack, struct arena *arena,
                          const struct dictionary_key *key, struct record_entry_list *list,
                          struct error *err)
{
    return store_record_walk(pack->store, arena,
                             &(struct record_walk){ .source = key->source,
                                                    .endpoint = key->endpoint,
                                                    .states = RECORDS_LIVE,
                                                    .with_payload = true,
                                                    .limit = PAYLOAD_SAMPLES,
                                                    .bytes_max = ARCHIVE_SAMPLES_BYTES_MAX },
                             list, err);
}

/* A long payload is represented by its beginning. */
static bool train(struct payload_pack *pack, struct arena *arena,
                  const struct record_entry_list *list, struct str *dictionary, struct error *err)
{
    const size_t each = (size_t)ARCHIVE_SAMPLES_BYTES_MAX / list->count;
    struct str *samples = ARENA_ARRAY(arena, struct str, list->count);
    struct body_packer *packer;
    bool ok;

    if (samples == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < list->count; i++)
        samples[i] = str_slice(list->items[i].payload, 0, each);
    if (!pack->packer_open(&packer, err))
        return false;
    ok = body_train(packer, arena, samples, list->count, dictionary, err);
    body_packer_close(packer);
    return ok;
}

/* Nothing, where the endpoint has too few records, or they have too little in common. */
static bool make_of(struct payload_pack *pack, struct arena *arena,
                    const struct dictionary_key *key, int64_t now_us, struct error *err)
{
    struct record_entry_list list;
    struct str dictionary;

    if (!first_records(pack, arena, key, &list, err))
        return false;
    if (list.count == 0 || (list.count < PAYLOAD_SAMPLES && list.is_end))
        return true;
    return train(pack, arena, &list, &dictionary, err) &&
           (dictionary.len == 0 ||
            store_archive_dictionary_add(pack->store, key, dictionary, now_us, err));
}

static bool make(struct payload_pack *pack, const struct dictionary_key *key, int64_t now_us,
                 struct error *err)
{
    struct arena arena;
    bool ok;

    arena_init(&arena, (size_t)BATCH_BYTES_MAX);
    ok = make_of(pack, &arena, key, now_us, err);
    arena_release(&arena);
    return ok || error_wrap(err, "make a dictionary");
}

/* ---- having one ---- */

static bool take(struct payload_pack *pack, int64_t id, struct error *err)
{
    bool found;

    forget(pack);
    if (id == 0)
        return true;
    pack->gap = 0;
    pack->waits = 0;
    if (!store_archive_dictionary_get(pack->store, &pack->memory, id, &pack->dictionary, &found,
                                      err) ||
        (found && !pack->packer_open(&pack->packer, err))) {
        forget(pack);
        return false;
    }
    return true;
}

bool payload_pack_begin(struct payload_pack *pack, struct str source, struct str endpoint,
                        int64_t now_us, struct error *err)
{
    const struct dictionary_key key = { source, endpoint, .of_payloads = true };
    struct archive_dictionary last;

    if (!store_archive_dictionary_last(pack->store, &key, &last, err) ||
        (last.id == 0 && is_due(pack) &&
         (!make(pack, &key, now_us, err) ||
          !store_archive_dictionary_last(pack->store, &key, &last, err))))
        return error_wrap(err, "pack payloads");
    if (last.id == pack->dictionary.id && last.created_us == pack->dictionary.created_us)
        return true;
    return take(pack, last.id, err) || error_wrap(err, "pack payloads");
}

bool payload_pack_row(struct payload_pack *pack, struct arena *arena, struct record_write *row,
                      struct error *err)
{
    const struct body_dictionary dictionary = { pack->dictionary.id, pack->dictionary.bytes };
    struct str packed;

    if (pack->packer == NULL || row->payload.len == 0)
        return true;
    if (!body_pack(pack->packer, arena, &dictionary, row->payload, &packed, err))
        return error_wrap(err, "pack record %.*s", STR_ARG(row->provider_id));
    if (packed.len >= row->payload.len)
        return true;
    row->payload = packed;
    row->dictionary_id = dictionary.id;
    return true;
}
