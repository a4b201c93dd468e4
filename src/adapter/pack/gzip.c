/* gzip, by zlib. */
#include <stdlib.h>
#include <zlib.h>

#include "adapter/pack/pack.h"

enum { PIECE_BYTES = 64 << 10, GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8, INPUT_MAX = 1 << 30 };

struct gzip {
    struct byte_sink sink; /* first */
    struct byte_sink *below;
    z_stream stream;
    unsigned char piece[PIECE_BYTES];
};

static bool run(struct gzip *gzip, int flush, struct error *err)
{
    int code;

    do {
        gzip->stream.next_out = gzip->piece;
        gzip->stream.avail_out = PIECE_BYTES;
        code = deflate(&gzip->stream, flush);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return error_set(err, ERROR_FATAL, "pack.gzip", "zlib: %s",
                             gzip->stream.msg != NULL ? gzip->stream.msg : "failed");
        if (!byte_sink_write(
                gzip->below,
                (struct str){ (const char *)gzip->piece, PIECE_BYTES - gzip->stream.avail_out },
                err))
            return false;
    } while (gzip->stream.avail_out == 0);
    return true;
}

static bool gzip_write(struct byte_sink *sink, struct str bytes, struct error *err)
{
    struct gzip *gzip = (struct gzip *)sink;

    while (bytes.len > 0) {
        const size_t count = bytes.len < INPUT_MAX ? bytes.len : INPUT_MAX;

        gzip->stream.next_in = (unsigned char *)bytes.data;
        gzip->stream.avail_in = (unsigned)count;
        if (!run(gzip, Z_NO_FLUSH, err))
            return false;
        bytes = str_slice(bytes, count, bytes.len);
    }
    return true;
}

static bool gzip_end(struct byte_sink *sink, struct error *err)
{
    struct gzip *gzip = (struct gzip *)sink;

    gzip->stream.avail_in = 0;
    return run(gzip, Z_FINISH, err) && byte_sink_end(gzip->below, err);
}

static void gzip_close(struct byte_sink *sink)
{
    struct gzip *gzip = (struct gzip *)sink;

    (void)deflateEnd(&gzip->stream);
    byte_sink_close(gzip->below);
    free(gzip);
}

bool pack_gzip_open(struct byte_sink *below, struct byte_sink **sink, struct error *err)
{
    struct gzip *gzip = calloc(1, sizeof(*gzip));

    *sink = NULL;
    if (gzip == NULL || deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory to compress");
    }
    gzip->sink = (struct byte_sink){ gzip_write, gzip_end, gzip_close };
    gzip->below = below;
    *sink = &gzip->sink;
    return true;
}
