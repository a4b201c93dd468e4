/* Zstandard, by libzstd. */
#include <stdlib.h>
#include <zstd.h>

#include "adapter/pack/pack.h"

enum { PIECE_BYTES = 128 << 10, LEVEL = 3 };

struct zstd {
    struct byte_sink sink; /* first */
    struct byte_sink *below;
    ZSTD_CCtx *context;
    char piece[PIECE_BYTES];
};

static bool run(struct zstd *zstd, struct str bytes, ZSTD_EndDirective directive, struct error *err)
{
    ZSTD_inBuffer in = { bytes.data, bytes.len, 0 };
    size_t left;

    do {
        ZSTD_outBuffer out = { zstd->piece, PIECE_BYTES, 0 };

        left = ZSTD_compressStream2(zstd->context, &out, &in, directive);
        if (ZSTD_isError(left))
            return error_set(err, ERROR_FATAL, "pack.zstd", "zstd: %s", ZSTD_getErrorName(left));
        if (!byte_sink_write(zstd->below, (struct str){ zstd->piece, out.pos }, err))
            return false;
    } while (directive == ZSTD_e_end ? left > 0 : in.pos < in.size);
    return true;
}

static bool zstd_write(struct byte_sink *sink, struct str bytes, struct error *err)
{
    return run((struct zstd *)sink, bytes, ZSTD_e_continue, err);
}

static bool zstd_end(struct byte_sink *sink, struct error *err)
{
    struct zstd *zstd = (struct zstd *)sink;

    return run(zstd, STR(""), ZSTD_e_end, err) && byte_sink_end(zstd->below, err);
}

static void zstd_close(struct byte_sink *sink)
{
    struct zstd *zstd = (struct zstd *)sink;

    (void)ZSTD_freeCCtx(zstd->context);
    byte_sink_close(zstd->below);
    free(zstd);
}

bool pack_zstd_open(struct byte_sink *below, struct byte_sink **sink, struct error *err)
{
    struct zstd *zstd = calloc(1, sizeof(*zstd));

    *sink = NULL;
    if (zstd == NULL || (zstd->context = ZSTD_createCCtx()) == NULL ||
        ZSTD_isError(ZSTD_CCtx_setParameter(zstd->context, ZSTD_c_compressionLevel, LEVEL)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(zstd->context, ZSTD_c_checksumFlag, 1))) {
        if (zstd != NULL)
            (void)ZSTD_freeCCtx(zstd->context);
        free(zstd);
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory to compress");
    }
    zstd->sink = (struct byte_sink){ zstd_write, zstd_end, zstd_close };
    zstd->below = below;
    *sink = &zstd->sink;
    return true;
}
