/* Zstandard, unpacked, by libzstd. */
#include <stdlib.h>
#include <zstd.h>

#include "adapter/pack/pack.h"

enum { PIECE_BYTES = 128 << 10 };

struct unzstd {
    struct byte_sink sink; /* first */
    struct byte_sink *below;
    ZSTD_DCtx *context;
    bool is_within; /* a frame that has not ended */
    char piece[PIECE_BYTES];
};

static bool unzstd_write(struct byte_sink *sink, struct str bytes, struct error *err)
{
    struct unzstd *unzstd = (struct unzstd *)sink;
    ZSTD_inBuffer in = { bytes.data, bytes.len, 0 };
    ZSTD_outBuffer out = { unzstd->piece, PIECE_BYTES, 0 };
    size_t left = 0;

    /* A piece that was filled may not be all that there is of the frame. */
    while (in.pos < in.size || (left > 0 && out.pos == PIECE_BYTES)) {
        out.pos = 0;
        left = ZSTD_decompressStream(unzstd->context, &out, &in);
        if (ZSTD_isError(left))
            return error_set(err, ERROR_REQUEST, "pack.broken", "zstd: %s",
                             ZSTD_getErrorName(left));
        unzstd->is_within = left > 0;
        if (!byte_sink_write(unzstd->below, (struct str){ unzstd->piece, out.pos }, err))
            return false;
    }
    return true;
}

static bool unzstd_end(struct byte_sink *sink, struct error *err)
{
    struct unzstd *unzstd = (struct unzstd *)sink;

    if (unzstd->is_within)
        return error_set(err, ERROR_REQUEST, "pack.broken", "zstd: the end is missing");
    return byte_sink_end(unzstd->below, err);
}

static void unzstd_close(struct byte_sink *sink)
{
    struct unzstd *unzstd = (struct unzstd *)sink;

    (void)ZSTD_freeDCtx(unzstd->context);
    byte_sink_close(unzstd->below);
    free(unzstd);
}

bool pack_unzstd_open(struct byte_sink *below, struct byte_sink **sink, struct error *err)
{
    struct unzstd *unzstd = calloc(1, sizeof(*unzstd));

    *sink = NULL;
    if (unzstd == NULL || (unzstd->context = ZSTD_createDCtx()) == NULL) {
        free(unzstd);
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory to decompress");
    }
    unzstd->sink = (struct byte_sink){ unzstd_write, unzstd_end, unzstd_close };
    unzstd->below = below;
    *sink = &unzstd->sink;
    return true;
}
