/* gzip by zlib. */
#include "sim/http/gzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { WINDOW_GZIP = 15 + 16, MEMORY_LEVEL = 8, BLANKS_BYTES = 64 << 10, OUT_BYTES = 16 << 10 };

bool gzip_compress(struct arena *arena, struct str bytes, int level, struct str *small)
{
    z_stream stream = { 0 };
    size_t bound;
    char *out;
    int result;

    if (deflateInit2(&stream, level, Z_DEFLATED, WINDOW_GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return false;
    bound = deflateBound(&stream, bytes.len);
    out = arena_alloc(arena, bound);
    if (out == NULL) {
        (void)deflateEnd(&stream);
        return false;
    }
    stream.next_in = (Bytef *)bytes.data;
    stream.avail_in = (uInt)bytes.len;
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)bound;
    result = deflate(&stream, Z_FINISH);
    *small = result == Z_STREAM_END ? (struct str){ out, stream.total_out } : *small;
    (void)deflateEnd(&stream);
    return result == Z_STREAM_END;
}

static bool feed(z_stream *stream, struct str in, int flush,
                 bool (*take)(void *context, struct str piece), void *context)
{
    char out[OUT_BYTES];

    stream->next_in = (Bytef *)in.data;
    stream->avail_in = (uInt)in.len;
    do {
        stream->next_out = (Bytef *)out;
        stream->avail_out = sizeof(out);
        (void)deflate(stream, flush);
        if (!take(context, (struct str){ out, sizeof(out) - stream->avail_out }))
            return false;
    } while (stream->avail_out == 0);
    return true;
}

bool gzip_blanks(struct str first, int64_t mb, bool (*take)(void *context, struct str piece),
                 void *context)
{
    static const int64_t PER_MB = (1 << 20) / BLANKS_BYTES;
    char blanks[BLANKS_BYTES];
    z_stream stream = { 0 };
    bool ok;

    if (deflateInit2(&stream, 9, Z_DEFLATED, WINDOW_GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    memset(blanks, ' ', sizeof(blanks));
    ok = feed(&stream, first, Z_NO_FLUSH, take, context);
    for (int64_t i = 0; ok && i < mb * PER_MB; i++)
        ok = feed(&stream, (struct str){ blanks, sizeof(blanks) }, Z_NO_FLUSH, take, context);
    ok = ok && feed(&stream, STR(""), Z_FINISH, take, context);
    (void)deflateEnd(&stream);
    return ok;
}

/* ---- files ---- */

static bool keep(void *context, struct str piece)
{
    struct gzip_out *out = context;
    size_t room = out->room > 0 ? out->room : BLANKS_BYTES;
    char *bytes;

    while (room - out->len < piece.len)
        room *= 2;
    if (room > out->room) {
        bytes = realloc(out->bytes, room);
        if (bytes == NULL)
            return false;
        out->bytes = bytes;
        out->room = room;
    }
    if (piece.len > 0)
        memcpy(out->bytes + out->len, piece.data, piece.len);
    out->len += piece.len;
    return true;
}

bool gzip_out_open(struct gzip_out *out, int level)
{
    *out = (struct gzip_out){ .level = level };
    if (level == 0)
        return true;
    out->stream = calloc(1, sizeof(z_stream));
    out->failed =
        out->stream == NULL || deflateInit2((z_stream *)out->stream, level, Z_DEFLATED, WINDOW_GZIP,
                                            MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK;
    return !out->failed;
}

bool gzip_out_add(struct gzip_out *out, struct str bytes)
{
    if (!out->failed)
        out->failed =
            !(out->level == 0 ? keep(out, bytes) : feed(out->stream, bytes, Z_NO_FLUSH, keep, out));
    return !out->failed;
}

bool gzip_out_end(struct gzip_out *out)
{
    if (out->stream != NULL && !out->failed)
        out->failed = !feed(out->stream, STR(""), Z_FINISH, keep, out);
    if (out->stream != NULL)
        (void)deflateEnd(out->stream);
    free(out->stream);
    out->stream = NULL;
    return !out->failed;
}
