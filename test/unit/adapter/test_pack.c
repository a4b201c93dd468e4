/* Sinks that compress; zlib and zstd themselves say whether it is right. */
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "adapter/pack/pack.h"
#include "test.h"

enum { BYTES = 500000, STEP = 7777 };

static struct arena arena;

struct kept {              /* a sink in memory */
    struct byte_sink sink; /* first */
    struct buf bytes;
    size_t fail_at; /* bytes: from there on writing fails; 0: it does not */
    int ended;
    int closed;
};

static bool keep(struct byte_sink *sink, struct str bytes, struct error *err)
{
    struct kept *kept = (struct kept *)sink;

    if (kept->fail_at > 0 && kept->bytes.len + bytes.len > kept->fail_at)
        return error_set(err, ERROR_TRANSIENT, "test.full", "no room");
    buf_add(&kept->bytes, bytes);
    return true;
}

static bool keep_end(struct byte_sink *sink, struct error *err)
{
    (void)err;
    ((struct kept *)sink)->ended++;
    return true;
}

static void keep_close(struct byte_sink *sink)
{
    ((struct kept *)sink)->closed++;
}

static void begin(struct kept *kept)
{
    *kept = (struct kept){ .sink = { keep, keep_end, keep_close } };
    buf_init(&kept->bytes, &arena, 4 * (size_t)BYTES);
}

static struct str sample(void)
{
    static char bytes[BYTES];
    uint32_t state = 1;

    for (size_t i = 0; i < sizeof(bytes); i++) {
        state = state * 1664525 + 1013904223;
        bytes[i] = (char)(i % 3 == 0 ? state >> 24 : 'a');
    }
    return (struct str){ bytes, sizeof(bytes) };
}

/* With another program's code. */
static size_t unpack(enum pack pack, struct str packed, char *out, size_t room)
{
    z_stream stream = { .next_in = (unsigned char *)packed.data,
                        .avail_in = (unsigned)packed.len,
                        .next_out = (unsigned char *)out,
                        .avail_out = (unsigned)room };
    size_t len;

    if (pack == PACK_ZSTD) {
        len = ZSTD_decompress(out, room, packed.data, packed.len);
        REQUIRE(!ZSTD_isError(len), "zstd");
        return len;
    }
    REQUIRE(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK, "zlib");
    CHECK_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END, "one whole gzip file");
    CHECK_EQ(stream.avail_in, 0, "and nothing after it");
    len = stream.total_out;
    (void)inflateEnd(&stream);
    return len;
}

static struct str packed_by(struct kept *kept, enum pack pack, struct str bytes)
{
    struct byte_sink *sink;
    struct error err = { 0 };

    begin(kept);
    REQUIRE_OK(pack_open(pack, &kept->sink, &sink, &err), err);
    for (size_t at = 0; at < bytes.len; at += STEP)
        REQUIRE_OK(byte_sink_write(sink, str_slice(bytes, at, at + STEP), &err), err);
    REQUIRE_OK(byte_sink_end(sink, &err), err);
    CHECK_EQ(kept->ended, 1, "what is below has ended, too");
    byte_sink_close(sink);
    CHECK_EQ(kept->closed, 1, "and is closed");
    return buf_str(&kept->bytes);
}

TEST(names_say_how_a_file_is_packed)
{
    static const struct {
        const char *name, *rest;
        enum pack pack;
    } cases[] = {
        { "works.csv.gz", "works.csv", PACK_GZIP },
        { "works.jsonl.zst", "works.jsonl", PACK_ZSTD },
        { "works.csv", "works.csv", PACK_NONE },
        { "works.gz.csv", "works.gz.csv", PACK_NONE },
        { ".gz", "", PACK_GZIP },
        { "", "", PACK_NONE },
        { "gz", "gz", PACK_NONE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str rest;

        CHECK_EQ(pack_of(str_of(cases[i].name), &rest), cases[i].pack, cases[i].name);
        CHECK_STR(rest, str_of(cases[i].rest), cases[i].name);
    }
}

TEST(what_is_packed_can_be_unpacked)
{
    static const enum pack packs[] = { PACK_GZIP, PACK_ZSTD };
    static char out[BYTES + 1];

    arena_init(&arena, (size_t)64 << 20);
    for (size_t i = 0; i < ARRAY_LEN(packs); i++) {
        static const size_t lengths[] = { 0, 1, STEP, STEP + 1, BYTES };

        for (size_t k = 0; k < ARRAY_LEN(lengths); k++) {
            const struct str bytes = str_slice(sample(), 0, lengths[k]);
            struct kept kept, again;
            const struct str packed = packed_by(&kept, packs[i], bytes);

            CHECK_EQ(unpack(packs[i], packed, out, sizeof(out)), bytes.len, "as long");
            CHECK(memcmp(out, bytes.data, bytes.len) == 0, "the same bytes");
            CHECK(lengths[k] < BYTES || packed.len < BYTES / 2, "smaller");
            CHECK_STR(packed_by(&again, packs[i], bytes), packed, "packed the same way again");
        }
    }
    arena_release(&arena);
}

TEST(a_sink_that_fails_fails_what_is_above_it)
{
    static const enum pack packs[] = { PACK_GZIP, PACK_ZSTD };

    arena_init(&arena, (size_t)64 << 20);
    for (size_t i = 0; i < ARRAY_LEN(packs); i++) {
        struct error err = { 0 };
        struct byte_sink *sink;
        struct kept kept;

        begin(&kept);
        kept.fail_at = 1000;
        REQUIRE_OK(pack_open(packs[i], &kept.sink, &sink, &err), err);
        CHECK(!(byte_sink_write(sink, sample(), &err) && byte_sink_end(sink, &err)), "it fails");
        CHECK_STR(str_of(err.code), STR("test.full"), "with the reason from below");
        CHECK_EQ(kept.ended, 0, "what is not whole is not ended");
        byte_sink_close(sink);
        CHECK_EQ(kept.closed, 1, "closed");
    }
    arena_release(&arena);
}

static bool unpacked_by(struct kept *kept, struct str packed, size_t step, struct error *err)
{
    struct byte_sink *sink;
    bool ok = true;

    begin(kept);
    REQUIRE_OK(unpack_open(PACK_ZSTD, &kept->sink, &sink, err), *err);
    for (size_t at = 0; ok && at < packed.len; at += step)
        ok = byte_sink_write(sink, str_slice(packed, at, at + step), err);
    ok = ok && byte_sink_end(sink, err);
    byte_sink_close(sink);
    CHECK_EQ(kept->closed, 1, "what is below is closed");
    return ok;
}

TEST(a_sink_unpacks_what_another_has_packed)
{
    static const size_t lengths[] = { 0, 1, 128 << 10, BYTES };
    static const size_t steps[] = { 1, 1000, BYTES };

    arena_init(&arena, (size_t)64 << 20);
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        const struct str bytes = str_slice(sample(), 0, lengths[i]);
        struct kept packed, kept;

        (void)packed_by(&packed, PACK_ZSTD, bytes);
        for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
            struct error err = { 0 };

            REQUIRE_OK(unpacked_by(&kept, buf_str(&packed.bytes), steps[k], &err), err);
            CHECK_STR(buf_str(&kept.bytes), bytes, "the same bytes");
            CHECK_EQ(kept.ended, 1, "ended");
        }
    }
    arena_release(&arena);
}

TEST(what_is_cut_short_or_not_packed_is_refused)
{
    struct error err = { 0 };
    struct kept packed, kept;
    struct str whole;

    arena_init(&arena, (size_t)64 << 20);
    whole = packed_by(&packed, PACK_ZSTD, sample());
    CHECK(!unpacked_by(&kept, str_slice(whole, 0, whole.len - 1), BYTES, &err), "cut short");
    CHECK_STR(str_of(err.code), STR("pack.broken"), "as that");
    CHECK_EQ(kept.ended, 0, "what is not whole is not ended");
    CHECK(!unpacked_by(&kept, STR("{\"kind\":\"BATCH\"}"), BYTES, &err), "not packed");
    CHECK_STR(str_of(err.code), STR("pack.broken"), "as that");
    arena_release(&arena);
}

TEST(bytes_are_packed_as_one_piece)
{
    static char out[BYTES];
    struct error err = { 0 };
    struct buf packed;

    arena_init(&arena, (size_t)64 << 20);
    buf_init(&packed, &arena, BYTES);
    buf_add(&packed, STR("before"));
    REQUIRE_OK(pack_bytes(PACK_ZSTD, STR("some text"), &packed, &err), err);
    CHECK(str_starts(buf_str(&packed), STR("before")), "appended");
    CHECK_EQ(unpack(PACK_ZSTD, str_slice(buf_str(&packed), 6, packed.len), out, sizeof(out)), 9,
             "one piece");
    buf_clear(&packed);
    REQUIRE_OK(pack_bytes(PACK_NONE, STR("some text"), &packed, &err), err);
    CHECK_STR(buf_str(&packed), STR("some text"), "as it is");
    arena_release(&arena);
}
