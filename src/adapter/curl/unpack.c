/* Decoders for gzip, deflate, br and zstd, with one limit. */
#include "adapter/curl/unpack.h"

#include <brotli/decode.h>
#include <libdeflate.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/quote.h"

enum {
    ROOM_BYTES_MIN = 4096,
    INFLATE_RATIO_MAX = 1032, /* the most that DEFLATE reaches */
    GZIP_BYTES_MIN = 18,
    ZSTD_WINDOW_LOG_MAX = 23, /* 8 MB: more is not allowed on the web (RFC 9659) */
};

struct output { /* grows in the arena, doubling, up to bytes_max */
    struct arena *arena;
    unsigned char *data;
    size_t len;
    size_t room;
    size_t bytes_max;
};

enum step { STEP_MORE, STEP_END, STEP_SHORT, STEP_BROKEN };

static bool limit_met(size_t bytes_max, struct error *err)
{
    return error_set(err, ERROR_REQUEST, "http.inflate_limit",
                     "the body unpacks to more than %zu bytes", bytes_max);
}

/* Makes room for at least one more byte; first: how much the first call makes. */
static bool make_room(struct output *out, size_t first, struct error *err)
{
    size_t wanted = out->room == 0 ? first : 2 * out->room;
    unsigned char *data;

    if (out->len < out->room)
        return true;
    if (out->room == out->bytes_max + 1)
        return limit_met(out->bytes_max, err);
    if (wanted < ROOM_BYTES_MIN)
        wanted = ROOM_BYTES_MIN;
    if (wanted > out->bytes_max + 1)
        wanted = out->bytes_max + 1; /* one byte more than allowed, so that an excess is noticed */
    data = out->room == 0 ? arena_alloc_raw(out->arena, wanted)
                          : arena_grow(out->arena, out->data, out->room, wanted);
    if (data == NULL)
        return arena_error(out->arena, err);
    out->data = data;
    out->room = wanted;
    return true;
}

/* Calls step until the coding ends, and makes room whenever the output is full. */
static bool run(struct output *out, size_t first,
                enum step (*step)(void *state, struct output *out), void *state, struct error *err)
{
    for (;;) {
        if (!make_room(out, first, err))
            return false;
        switch (step(state, out)) {
        case STEP_MORE:
            break;
        case STEP_END:
            return out->len <= out->bytes_max || limit_met(out->bytes_max, err);
        case STEP_SHORT:
            return error_set(err, ERROR_TRANSIENT, "http.truncated",
                             "the body's content coding has no end");
        case STEP_BROKEN:
            return error_set(err, ERROR_TRANSIENT, "http.encoding",
                             "the body's content coding is broken");
        }
    }
}

/* ---- gzip, deflate ---- */

static enum step inflate_step(void *state, struct output *out)
{
    z_stream *stream = state;
    int result;

    stream->next_out = out->data + out->len;
    stream->avail_out = (uInt)(out->room - out->len);
    result = inflate(stream, Z_NO_FLUSH);
    out->len = out->room - stream->avail_out;
    if (result == Z_STREAM_END) {
        /* A gzip file may have several members; anything else after one is padding. */
        if (stream->avail_in < 2 || stream->next_in[0] != 0x1F || stream->next_in[1] != 0x8B)
            return STEP_END;
        return inflateReset(stream) == Z_OK ? STEP_MORE : STEP_BROKEN;
    }
    if (result != Z_OK && result != Z_BUF_ERROR)
        return STEP_BROKEN;
    return stream->avail_in == 0 && stream->avail_out > 0 ? STEP_SHORT : STEP_MORE;
}

static bool unpack_zlib(struct output *out, struct str packed, int window_bits, size_t first,
                        struct error *err)
{
    z_stream stream = { .next_in = (Bytef *)packed.data, .avail_in = (uInt)packed.len };
    bool done;

    if (inflateInit2(&stream, window_bits) != Z_OK)
        return error_set(err, ERROR_TRANSIENT, "http.resource", "no memory to unpack a body");
    done = run(out, first, inflate_step, &stream, err);
    (void)inflateEnd(&stream);
    return done;
}

/* The whole body in one call, in a third of zlib's time. False: it has several members, is longer
 * than its trailer says, or is broken: zlib finds out, from the beginning. */
static bool is_unpacked_at_once(struct output *out, struct str packed)
{
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    size_t used = 0, made = 0;
    bool ok;

    if (decompressor == NULL)
        return false;
    ok = libdeflate_gzip_decompress_ex(decompressor, packed.data, packed.len, out->data, out->room,
                                       &used, &made) == LIBDEFLATE_SUCCESS &&
         made <= out->bytes_max && used == packed.len;
    libdeflate_free_decompressor(decompressor);
    out->len = ok ? made : 0;
    return ok;
}

/* The size in the trailer may be wrong: it only decides how much room is made first. */
static bool unpack_gzip(struct output *out, struct str packed, struct error *err)
{
    const unsigned char *end = (const unsigned char *)packed.data + packed.len;
    size_t hint = 0;

    if (packed.len >= GZIP_BYTES_MIN)
        hint = end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
    if (hint / INFLATE_RATIO_MAX > packed.len)
        hint = 0;
    if (!make_room(out, hint + 1, err))
        return false;
    return (hint > 0 && is_unpacked_at_once(out, packed)) ||
           unpack_zlib(out, packed, MAX_WBITS + 16, hint + 1, err);
}

/* "deflate" means zlib's format, but some servers send the bare stream. */
static bool unpack_deflate(struct output *out, struct str packed, struct error *err)
{
    const unsigned char *head = (const unsigned char *)packed.data;
    const bool is_zlib =
        packed.len >= 2 && (head[0] & 0x0F) == Z_DEFLATED && (head[0] << 8 | head[1]) % 31 == 0;

    return unpack_zlib(out, packed, is_zlib ? MAX_WBITS : -MAX_WBITS, 4 * packed.len, err);
}

/* ---- br ---- */

struct brotli {
    BrotliDecoderState *decoder;
    size_t left;
    const uint8_t *next;
};

static enum step brotli_step(void *state, struct output *out)
{
    struct brotli *brotli = state;
    uint8_t *at = out->data + out->len;
    size_t room = out->room - out->len;
    const BrotliDecoderResult result = BrotliDecoderDecompressStream(
        brotli->decoder, &brotli->left, &brotli->next, &room, &at, NULL);

    out->len = out->room - room;
    switch (result) {
    case BROTLI_DECODER_RESULT_SUCCESS:
        return STEP_END;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
        return STEP_MORE;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
        return STEP_SHORT;
    case BROTLI_DECODER_RESULT_ERROR:
        break;
    }
    return STEP_BROKEN;
}

static bool unpack_brotli(struct output *out, struct str packed, struct error *err)
{
    struct brotli state = { BrotliDecoderCreateInstance(NULL, NULL, NULL), packed.len,
                            (const uint8_t *)packed.data };
    bool done;

    if (state.decoder == NULL)
        return error_set(err, ERROR_TRANSIENT, "http.resource", "no memory to unpack a body");
    done = run(out, 6 * packed.len, brotli_step, &state, err);
    BrotliDecoderDestroyInstance(state.decoder);
    return done;
}

/* ---- zstd ---- */

struct zstd {
    ZSTD_DCtx *context;
    ZSTD_inBuffer in;
};

static enum step zstd_step(void *state, struct output *out)
{
    struct zstd *zstd = state;
    ZSTD_outBuffer target = { out->data, out->room, out->len };
    const size_t left = ZSTD_decompressStream(zstd->context, &target, &zstd->in);

    out->len = target.pos;
    if (ZSTD_isError(left))
        return STEP_BROKEN;
    if (left == 0 && zstd->in.pos == zstd->in.size)
        return STEP_END; /* of the last frame */
    return zstd->in.pos == zstd->in.size && out->len < out->room ? STEP_SHORT : STEP_MORE;
}

static bool unpack_zstd(struct output *out, struct str packed, struct error *err)
{
    const unsigned long long announced = ZSTD_getFrameContentSize(packed.data, packed.len);
    const size_t first = announced <= out->bytes_max ? (size_t)announced + 1 : 6 * packed.len;
    struct zstd state = { ZSTD_createDCtx(), { packed.data, packed.len, 0 } };
    bool done;

    if (state.context == NULL)
        return error_set(err, ERROR_TRANSIENT, "http.resource", "no memory to unpack a body");
    (void)ZSTD_DCtx_setParameter(state.context, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
    done = run(out, first, zstd_step, &state, err);
    (void)ZSTD_freeDCtx(state.context);
    return done;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    bool (*unpack)(struct output *out, struct str packed, struct error *err);
} codings[] = {
    { "gzip", unpack_gzip }, { "x-gzip", unpack_gzip }, { "deflate", unpack_deflate },
    { "br", unpack_brotli }, { "zstd", unpack_zstd },
};

bool unpack_is_identity(struct str coding)
{
    coding = str_trim(coding);
    return coding.len == 0 || str_eq_nocase(coding, STR("identity"));
}

bool unpack(struct arena *arena, const struct packed_body *packed, struct str *body,
            struct error *err)
{
    struct output out = { .arena = arena, .bytes_max = (size_t)packed->bytes_max };

    *body = STR("");
    if (packed->bytes.len == 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(codings); i++) {
        if (!str_eq_nocase(str_of(codings[i].name), str_trim(packed->coding)))
            continue;
        if (!codings[i].unpack(&out, packed->bytes, err))
            return false;
        *body = (struct str){ (const char *)out.data, out.len };
        return true;
    }
    return error_set(err, ERROR_TRANSIENT, "http.encoding",
                     "the content coding %s was not requested", QUOTE(packed->coding));
}
