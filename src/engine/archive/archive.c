/* Makes archived bytes of responses, and responses of them. */
#include "engine/archive/archive.h"

#include <string.h>

#include "core/limits.h"
#include "data/saved_response.h"

void archive_init(struct archive *archive, struct body_packer *packer, struct store *store)
{
    *archive = (struct archive){ .packer = packer, .store = store };
    arena_init(&archive->memory, (size_t)16 << 20);
}

void archive_release(struct archive *archive)
{
    body_packer_close(archive->packer);
    if (archive->packer != NULL)
        arena_release(&archive->memory);
    *archive = (struct archive){ 0 };
}

/* ---- writing ---- */

/* Headers that reading a response may look at. Others change from request to request, and would
 * make equal responses differ. */
static bool is_kept(const struct spec_endpoint *endpoint, struct str name)
{
    if (str_eq_nocase(name, STR("content-type")) || str_eq_nocase(name, STR("link")) ||
        (endpoint->page.next_header.len > 0 && str_eq_nocase(name, endpoint->page.next_header)))
        return true;
    if (endpoint->response.total_header.len > 0 &&
        str_eq_nocase(name, endpoint->response.total_header))
        return true;
    for (size_t i = 0; i < endpoint->response.error_when.count; i++) {
        if (str_eq_nocase(name, endpoint->response.error_when.items[i].header))
            return true;
    }
    return false;
}

static void add_head(struct buf *out, const struct spec_endpoint *endpoint,
                     const struct http_response *reply)
{
    buf_printf(out, "HTTP/1.1 %d\r\n", reply->status);
    for (size_t i = 0; i < reply->headers.count; i++) {
        const struct http_header *header = &reply->headers.items[i];

        if (is_kept(endpoint, header->name))
            buf_printf(out, "%.*s: %.*s\r\n", STR_ARG(header->name), STR_ARG(header->value));
    }
}

/* The bytes to keep, in the arena. */
static bool write_bytes(struct arena *arena, const struct archive_input *input, struct str *bytes,
                        struct error *err)
{
    const struct request_mask mask = { input->form, input->secrets, NULL };
    const struct str body = input->reply->body;
    char *copy = arena_alloc_raw(arena, body.len + 1);
    struct buf out;
    size_t len;

    if (copy == NULL)
        return arena_error(arena, err);
    if (body.len > 0)
        memcpy(copy, body.data, body.len);
    len = request_mask_secrets(&mask, copy, body.len);
    buf_init(&out, arena, (size_t)ARCHIVE_BYTES_MAX);
    add_head(&out, input->form->endpoint, input->reply);
    out.len = request_mask_secrets(&mask, out.data, out.len);
    if (len != body.len || memcmp(copy, body.data, len) != 0)
        buf_printf(&out, "%.*s: yes\r\n", STR_ARG(ARCHIVE_MASKED_HEADER));
    buf_add(&out, STR("\r\n"));
    buf_add(&out, (struct str){ copy, len });
    *bytes = buf_str(&out);
    return buf_ok(&out, err);
}

/* The dictionary of an endpoint, once per executor and endpoint; archive_tend() looks again. */
static bool load_dictionary(struct archive *archive, struct str source, struct str endpoint,
                            struct error *err)
{
    const struct dictionary_key key = { .source = source, .endpoint = endpoint };
    struct archive_dictionary found;
    bool is_there = true;

    if (archive->is_loaded && str_eq(archive->source, source) &&
        str_eq(archive->endpoint, endpoint))
        return true;
    arena_reset(&archive->memory);
    archive->is_loaded = false;
    archive->source = arena_copy(&archive->memory, source);
    archive->endpoint = arena_copy(&archive->memory, endpoint);
    if (!store_archive_dictionary_last(archive->store, &key, &found, err) ||
        (found.id > 0 && !store_archive_dictionary_get(archive->store, &archive->memory, found.id,
                                                       &found, &is_there, err)))
        return false;
    archive->dictionary = (struct body_dictionary){ found.id, found.bytes };
    archive->is_loaded = !archive->memory.failed;
    return archive->is_loaded || arena_error(&archive->memory, err);
}

static bool hash_bytes(struct arena *arena, struct str bytes, struct str *hash, struct error *err)
{
    char *hex = arena_alloc(arena, HASH_HEX_MAX);
    struct hash_sum sum;

    if (hex == NULL)
        return arena_error(arena, err);
    if (!hash_of(bytes, &sum, err))
        return false;
    hash_hex(&sum, hex);
    *hash = str_of(hex);
    return true;
}

bool archive_make(struct archive *archive, struct arena *arena, const struct archive_input *input,
                  struct archived_body *body, struct error *err)
{
    const struct str source = input->form->spec->source;
    const struct str endpoint = input->form->endpoint->name;
    struct str bytes;

    if (!load_dictionary(archive, source, endpoint, err) || !write_bytes(arena, input, &bytes, err))
        return error_wrap(err, "archive");
    *body = (struct archived_body){ .source = source,
                                    .endpoint = endpoint,
                                    .dictionary_id = archive->dictionary.id,
                                    .raw_bytes = (int64_t)bytes.len,
                                    .used_us = input->now_us };
    return (hash_bytes(arena, bytes, &body->hash, err) &&
            body_pack(archive->packer, arena, &archive->dictionary, bytes, &body->packed, err)) ||
           error_wrap(err, "archive");
}

/* ---- reading ---- */

static bool dictionary_of(struct archive *archive, struct arena *arena, int64_t id,
                          struct body_dictionary *dictionary, struct error *err)
{
    struct archive_dictionary found;
    bool is_there = true;

    *dictionary = (struct body_dictionary){ 0 };
    if (id == 0)
        return true;
    if (archive->is_loaded && archive->dictionary.id == id) {
        *dictionary = archive->dictionary;
        return true;
    }
    if (!store_archive_dictionary_get(archive->store, arena, id, &found, &is_there, err))
        return false;
    *dictionary = (struct body_dictionary){ found.id, found.bytes };
    return is_there || error_set(err, ERROR_FATAL, "archive.broken", "a dictionary is missing");
}

static bool unpack(struct archive *archive, struct arena *arena, const struct archived_body *body,
                   struct str *bytes, struct error *err)
{
    struct body_dictionary dictionary;
    struct str hash;

    if (!dictionary_of(archive, arena, body->dictionary_id, &dictionary, err) ||
        !body_unpack(archive->packer, arena, &dictionary, body->packed, bytes, err) ||
        !hash_bytes(arena, *bytes, &hash, err))
        return false;
    return str_eq(hash, body->hash) ||
           error_set(err, ERROR_FATAL, "archive.broken", "the bytes are not those of %.*s",
                     STR_ARG(body->hash));
}

bool archive_read(struct archive *archive, struct arena *arena, struct str hash,
                  struct http_response *reply, bool *found, struct error *err)
{
    struct saved_response saved = { 0 };
    struct archived_body body;

    if (!store_archive_get(archive->store, arena, hash, &body, found, err))
        return false;
    if (!*found)
        return true;
    return (unpack(archive, arena, &body, &saved.text, err) &&
            saved_response_read(&saved, arena, reply, err)) ||
           error_wrap(err, "archived response %.*s", STR_ARG(hash));
}

/* ---- tending ---- */

#define TEND_US US_PER_MINUTE
enum { PRUNED_MAX = 1000 };

/* Up to the room for samples; a long body is represented by its beginning. */
static bool gather_samples(struct archive *archive, struct arena *arena,
                           const struct archive_hash_list *hashes, struct str *samples,
                           size_t *count, struct error *err)
{
    const size_t each = (size_t)ARCHIVE_SAMPLES_BYTES_MAX / ARCHIVE_SAMPLES;
    struct archived_body body;
    bool found;

    *count = 0;
    for (size_t i = 0; i < hashes->count; i++) {
        struct str bytes;

        if (!store_archive_get(archive->store, arena, hashes->items[i], &body, &found, err))
            return false;
        if (!found)
            continue;
        if (!unpack(archive, arena, &body, &bytes, err))
            return false;
        samples[(*count)++] = str_slice(bytes, 0, each);
    }
    return true;
}

static bool train(struct archive *archive, const struct spec *spec,
                  const struct spec_endpoint *endpoint, int64_t now_us, struct arena *arena,
                  struct error *err)
{
    struct str samples[ARCHIVE_SAMPLES];
    struct archive_hash_list hashes;
    struct str dictionary;
    size_t count;

    if (!store_archive_sample(archive->store, arena, spec->source, endpoint->name, ARCHIVE_SAMPLES,
                              &hashes, err))
        return false;
    if (hashes.count < ARCHIVE_SAMPLES_MIN)
        return true;
    if (!gather_samples(archive, arena, &hashes, samples, &count, err) ||
        !body_train(archive->packer, arena, samples, count, &dictionary, err))
        return false;
    archive->is_loaded = false;
    return dictionary.len == 0 ||
           store_archive_dictionary_add(
               archive->store,
               &(struct dictionary_key){ .source = spec->source, .endpoint = endpoint->name },
               dictionary, now_us, err);
}

static bool prune(struct archive *archive, const struct spec *spec,
                  const struct spec_endpoint *endpoint, int64_t now_us, struct error *err)
{
    int64_t removed;

    return store_archive_prune(
        archive->store,
        &(struct archive_bound){ .source = spec->source,
                                 .endpoint = endpoint->name,
                                 .before_us = now_us - endpoint->http.archive_keep_us,
                                 .bytes_max = endpoint->http.archive_bytes,
                                 .limit = PRUNED_MAX },
        &removed, err);
}

static bool tend_endpoint(struct archive *archive, const struct spec *spec,
                          const struct spec_endpoint *endpoint, int64_t now_us, struct error *err)
{
    struct arena arena;
    bool ok;

    if (endpoint->http.archive_keep_us == 0)
        return true;
    arena_init(&arena, (size_t)BATCH_BYTES_MAX);
    ok = load_dictionary(archive, spec->source, endpoint->name, err) &&
         (archive->dictionary.id > 0 || train(archive, spec, endpoint, now_us, &arena, err)) &&
         prune(archive, spec, endpoint, now_us, err);
    arena_release(&arena);
    return ok;
}

bool archive_tend(struct archive *archive, const struct spec *spec, int64_t now_us,
                  struct error *err)
{
    if (now_us < archive->tended_us + TEND_US)
        return true;
    archive->tended_us = now_us;
    return (tend_endpoint(archive, spec, &spec->endpoint, now_us, err) &&
            (!spec->is_two_phase || tend_endpoint(archive, spec, &spec->detail, now_us, err))) ||
           error_wrap(err, "tend the archive");
}
