/* Responses of the archive and payloads, by libzstd and its dictionary builder. */
#include <stdlib.h>
#include <zdict.h>
#include <zstd.h>

#include "adapter/pack/pack.h"
#include "core/limits.h"

/* Level 3 packs JSON several times faster than 100 MB/s; higher levels gain little on it. */
enum { LEVEL = 3, DICTIONARY_BYTES = 112 << 10, SAMPLES_MIN = 8 };

struct zstd_body {
    struct body_packer packer; /* first */
    ZSTD_CCtx *packing;
    ZSTD_DCtx *unpacking;
    int64_t dictionary_id; /* of the next two; 0: none */
    ZSTD_CDict *to_pack;
    ZSTD_DDict *to_unpack;
};

static bool failed(size_t code, struct error *err)
{
    return error_set(err, ERROR_FATAL, "pack.broken", "zstd: %s", ZSTD_getErrorName(code));
}

static bool no_memory(struct error *err)
{
    return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory to compress");
}

static void forget(struct zstd_body *body)
{
    if (body->packing != NULL)
        (void)ZSTD_CCtx_refCDict(body->packing, NULL);
    (void)ZSTD_freeCDict(body->to_pack);
    (void)ZSTD_freeDDict(body->to_unpack);
    body->to_pack = NULL;
    body->to_unpack = NULL;
    body->dictionary_id = 0;
}

static void take_dictionary(struct zstd_body *body, int64_t id)
{
    if (id == body->dictionary_id)
        return;
    forget(body);
    body->dictionary_id = id;
}

/* Each half is made when it is needed: who only reads needs the smaller one. */
static bool ready_to_pack(struct zstd_body *body, const struct body_dictionary *dictionary,
                          struct error *err)
{
    take_dictionary(body, dictionary->id);
    if (dictionary->id == 0 || body->to_pack != NULL)
        return true;
    body->to_pack = ZSTD_createCDict(dictionary->bytes.data, dictionary->bytes.len, LEVEL);
    if (body->to_pack != NULL && !ZSTD_isError(ZSTD_CCtx_refCDict(body->packing, body->to_pack)))
        return true;
    forget(body);
    return no_memory(err);
}

static bool ready_to_unpack(struct zstd_body *body, const struct body_dictionary *dictionary,
                            struct error *err)
{
    take_dictionary(body, dictionary->id);
    if (dictionary->id == 0 || body->to_unpack != NULL)
        return true;
    body->to_unpack = ZSTD_createDDict(dictionary->bytes.data, dictionary->bytes.len);
    return body->to_unpack != NULL || no_memory(err);
}

static bool zstd_pack(struct body_packer *packer, struct arena *arena,
                      const struct body_dictionary *dictionary, struct str bytes,
                      struct str *packed, struct error *err)
{
    struct zstd_body *body = (struct zstd_body *)packer;
    const size_t room = ZSTD_compressBound(bytes.len);
    char *out = arena_alloc_raw(arena, room);
    size_t len;

    if (out == NULL)
        return arena_error(arena, err);
    if (!ready_to_pack(body, dictionary, err))
        return false;
    len = ZSTD_compress2(body->packing, out, room, bytes.data, bytes.len);
    if (ZSTD_isError(len))
        return failed(len, err);
    *packed = (struct str){ out, len };
    return true;
}

static bool zstd_unpack(struct body_packer *packer, struct arena *arena,
                        const struct body_dictionary *dictionary, struct str packed,
                        struct str *bytes, struct error *err)
{
    struct zstd_body *body = (struct zstd_body *)packer;
    const unsigned long long room = ZSTD_getFrameContentSize(packed.data, packed.len);
    char *out;
    size_t len;

    if (room > (unsigned long long)ARCHIVE_BYTES_MAX) /* also where it is unknown or no frame */
        return error_set(err, ERROR_FATAL, "pack.broken", "not bytes that were packed");
    out = arena_alloc_raw(arena, (size_t)room + 1);
    if (out == NULL)
        return arena_error(arena, err);
    if (!ready_to_unpack(body, dictionary, err))
        return false;
    if (body->to_unpack != NULL)
        len = ZSTD_decompress_usingDDict(body->unpacking, out, (size_t)room, packed.data,
                                         packed.len, body->to_unpack);
    else
        len = ZSTD_decompressDCtx(body->unpacking, out, (size_t)room, packed.data, packed.len);
    if (ZSTD_isError(len))
        return failed(len, err);
    *bytes = (struct str){ out, len };
    return true;
}

/* Samples are given to libzstd one after the other, in one piece of memory. */
static bool zstd_train(struct body_packer *packer, struct arena *arena, const struct str *samples,
                       size_t count, struct str *dictionary, struct error *err)
{
    size_t *sizes = ARENA_ARRAY(arena, size_t, count + 1);
    char *out = arena_alloc_raw(arena, DICTIONARY_BYTES);
    struct buf all;
    size_t len;

    (void)packer;
    *dictionary = STR("");
    buf_init(&all, arena, (size_t)ARCHIVE_SAMPLES_BYTES_MAX);
    if (sizes == NULL || out == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < count; i++) {
        sizes[i] = samples[i].len;
        buf_add(&all, samples[i]);
    }
    if (!buf_ok(&all, err))
        return false;
    if (count < SAMPLES_MIN)
        return true;
    len = ZDICT_trainFromBuffer(out, DICTIONARY_BYTES, all.data, sizes, (unsigned)count);
    if (!ZDICT_isError(len))
        *dictionary = (struct str){ out, len };
    return true;
}

static void zstd_body_close(struct body_packer *packer)
{
    struct zstd_body *body = (struct zstd_body *)packer;

    forget(body);
    (void)ZSTD_freeCCtx(body->packing);
    (void)ZSTD_freeDCtx(body->unpacking);
    free(body);
}

/* With a checksum of the bytes: one that was changed is noticed wherever it is read. */
static bool set_up(struct zstd_body *body)
{
    body->packing = ZSTD_createCCtx();
    body->unpacking = ZSTD_createDCtx();
    return body->packing != NULL && body->unpacking != NULL &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(body->packing, ZSTD_c_compressionLevel, LEVEL)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(body->packing, ZSTD_c_checksumFlag, 1));
}

bool pack_body_open(struct body_packer **packer, struct error *err)
{
    struct zstd_body *body = calloc(1, sizeof(*body));

    *packer = NULL;
    if (body == NULL)
        return no_memory(err);
    body->packer = (struct body_packer){ zstd_pack, zstd_unpack, zstd_train, zstd_body_close };
    if (!set_up(body)) {
        zstd_body_close(&body->packer);
        return no_memory(err);
    }
    *packer = &body->packer;
    return true;
}
