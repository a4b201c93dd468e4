/* Chooses a compressor, and loads the module that has it. */
#include "adapter/pack/pack.h"

static const struct {
    struct str suffix;
    enum pack pack;
} SUFFIXES[] = {
    { STR_INIT(".gz"), PACK_GZIP },
    { STR_INIT(".zst"), PACK_ZSTD },
};

enum pack pack_of(struct str path, struct str *rest)
{
    *rest = path;
    for (size_t i = 0; i < ARRAY_LEN(SUFFIXES); i++) {
        if (!str_ends(path, SUFFIXES[i].suffix))
            continue;
        *rest = str_slice(path, 0, path.len - SUFFIXES[i].suffix.len);
        return SUFFIXES[i].pack;
    }
    return PACK_NONE;
}

bool pack_open(enum pack pack, struct byte_sink *below, struct byte_sink **sink, struct error *err)
{
    const struct pack_library *library;

    *sink = pack == PACK_NONE ? below : NULL;
    if (pack == PACK_NONE)
        return true;
    library = module_load("pack", err);
    if (library == NULL)
        return false;
    return pack == PACK_GZIP ? library->gzip(below, sink, err) : library->zstd(below, sink, err);
}
