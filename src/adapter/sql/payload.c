/* Unpacking, with the dictionaries that a session has ready. */
#include "adapter/sql/payload.h"

#include "port/store_archive.h"

enum { DICTIONARY_BYTES_MAX = 16 << 20 };

/* The next one to give up its place is the one that was taken first. */
static struct known_dictionary *place_for(struct session_payloads *payloads)
{
    struct known_dictionary *place = &payloads->known[payloads->next];

    payloads->next = (payloads->next + 1) % ARRAY_LEN(payloads->known);
    body_packer_close(place->packer);
    *place = (struct known_dictionary){ 0 };
    return place;
}

static struct known_dictionary *find(struct session_payloads *payloads, int64_t id)
{
    for (size_t i = 0; i < ARRAY_LEN(payloads->known); i++) {
        if (payloads->known[i].id == id)
            return &payloads->known[i];
    }
    return NULL;
}

static bool open_packer(struct store *store, struct body_packer **packer, struct error *err)
{
    if (store->packer_open == NULL)
        return error_set(err, ERROR_FATAL, "module.missing", "this session cannot unpack");
    return store->packer_open(packer, err);
}

/* A dictionary that is not ready: its bytes are read, and kept by the packer. */
static bool unpack_first(struct store *store, struct arena *arena, int64_t id, struct str packed,
                         struct str *bytes, struct error *err)
{
    struct known_dictionary *place = place_for(&sql_session_of(store)->payloads);
    struct archive_dictionary dictionary;
    struct arena memory;
    bool found, ok;

    if (!open_packer(store, &place->packer, err))
        return false;
    arena_init(&memory, DICTIONARY_BYTES_MAX);
    ok = store_archive_dictionary_get(store, &memory, id, &dictionary, &found, err) &&
         (found || error_set(err, ERROR_FATAL, "pack.broken", "its dictionary is missing")) &&
         body_unpack(place->packer, arena, &(struct body_dictionary){ id, dictionary.bytes },
                     packed, bytes, err);
    arena_release(&memory);
    if (ok)
        place->id = id;
    return ok;
}

static bool unpack(struct store *store, struct arena *arena, int64_t id, struct str packed,
                   struct str *bytes, struct error *err)
{
    struct known_dictionary *known = find(&sql_session_of(store)->payloads, id);

    if (known == NULL)
        return unpack_first(store, arena, id, packed, bytes, err);
    return body_unpack(known->packer, arena, &(struct body_dictionary){ .id = id }, packed, bytes,
                       err);
}

static bool read_packed(struct statement *st, struct arena *arena, struct str provider_id,
                        struct str *bytes, struct error *err)
{
    const int64_t id = rows_i64(&st->rows);
    const struct str packed = rows_view(&st->rows);

    *bytes = STR("");
    return unpack(&st->session->store, arena, id, packed, bytes, err) ||
           error_wrap(err, "the payload of record %.*s", STR_ARG(provider_id));
}

struct str payload_try(struct statement *st, struct arena *arena, struct str provider_id,
                       bool *is_broken)
{
    struct error err;
    struct str bytes;

    *is_broken = false;
    if (rows_is_null(&st->rows)) {
        rows_skip(&st->rows, 1);
        return rows_text(&st->rows, arena);
    }
    if (!read_packed(st, arena, provider_id, &bytes, &err)) {
        *is_broken = body_error_is_broken(&err);
        if (!*is_broken)
            statement_fail(st, &err);
    }
    return bytes;
}

struct str payload_text(struct statement *st, struct arena *arena, struct str provider_id)
{
    struct error err;
    struct str bytes;

    if (rows_is_null(&st->rows)) {
        rows_skip(&st->rows, 1);
        return rows_text(&st->rows, arena);
    }
    if (!read_packed(st, arena, provider_id, &bytes, &err))
        statement_fail(st, &err);
    return bytes;
}

struct str payload_view(struct statement *st, struct str provider_id)
{
    struct arena *scratch = &st->session->payloads.scratch;

    if (rows_is_null(&st->rows)) {
        rows_skip(&st->rows, 1);
        return rows_view(&st->rows);
    }
    arena_reset(scratch);
    return payload_text(st, scratch, provider_id);
}

void payload_forget(struct sql_session *session)
{
    for (size_t i = 0; i < ARRAY_LEN(session->payloads.known); i++)
        (void)place_for(&session->payloads);
}
