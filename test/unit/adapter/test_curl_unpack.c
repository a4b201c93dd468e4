/* Content codings, their limits and their ends. */
#include "adapter/curl/unpack.h"

#include <brotli/encode.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "test.h"

enum { BODY_BYTES = 300000 };

static char body[BODY_BYTES], packed[2 * BODY_BYTES];
static size_t packed_len;
static struct arena arena;
static struct error err;
static struct str result;

static void make_body(void)
{
    for (size_t i = 0; i < sizeof(body); i++)
        body[i] = (char)('a' + i * i / 7 % 23);
}

static void pack_zlib(int window_bits)
{
    z_stream stream = { 0 };

    make_body();
    REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK,
            "zlib");
    stream.next_in = (Bytef *)body;
    stream.avail_in = sizeof(body);
    stream.next_out = (Bytef *)packed;
    stream.avail_out = sizeof(packed);
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflated");
    packed_len = stream.total_out;
    (void)deflateEnd(&stream);
}

static void pack_gzip(void)
{
    pack_zlib(MAX_WBITS + 16);
}

static void pack_deflate(void)
{
    pack_zlib(MAX_WBITS);
}

static void pack_bare(void)
{
    pack_zlib(-MAX_WBITS);
}

static void pack_brotli(void)
{
    make_body();
    packed_len = sizeof(packed);
    REQUIRE(BrotliEncoderCompress(5, 22, BROTLI_MODE_TEXT, sizeof(body), (const uint8_t *)body,
                                  &packed_len, (uint8_t *)packed),
            "brotli");
}

static void pack_zstd(void)
{
    make_body();
    packed_len = ZSTD_compress(packed, sizeof(packed), body, sizeof(body), 3);
    REQUIRE(!ZSTD_isError(packed_len), "zstd");
}

static const struct {
    const char *label;
    const char *coding;
    void (*pack)(void);
} codings[] = {
    { "gzip", "gzip", pack_gzip },
    { "x-gzip", " X-Gzip ", pack_gzip },
    { "deflate", "deflate", pack_deflate },
    { "a bare stream as deflate", "deflate", pack_bare },
    { "br", "br", pack_brotli },
    { "zstd", "zstd", pack_zstd },
};

static const char *undo(const char *coding, struct str bytes, int64_t max)
{
    err = (struct error){ 0 };
    arena_release(&arena);
    arena_init(&arena, 16 << 20);
    return unpack(&arena, &(struct packed_body){ str_of(coding), bytes, max }, &result, &err)
               ? ""
               : err.code;
}

TEST(every_coding_gives_the_body_back)
{
    for (size_t i = 0; i < ARRAY_LEN(codings); i++) {
        codings[i].pack();
        CHECK_STR(str_of(undo(codings[i].coding, (struct str){ packed, packed_len }, 1 << 20)),
                  STR(""), codings[i].label);
        CHECK(str_eq(result, (struct str){ body, sizeof(body) }), codings[i].label);
    }
}

TEST(a_coding_without_its_end_is_truncated_wherever_it_is_cut)
{
    for (size_t i = 0; i < ARRAY_LEN(codings); i++) {
        codings[i].pack();
        for (size_t step = 1; step <= 20; step++) {
            const size_t cut = step < 8 ? packed_len - step : packed_len * step / 21;

            CHECK_STR(str_of(undo(codings[i].coding, (struct str){ packed, cut }, 1 << 20)),
                      STR("http.truncated"), codings[i].label);
            CHECK_EQ(err.level, ERROR_TRANSIENT, codings[i].label);
        }
    }
}

TEST(no_more_is_unpacked_than_allowed)
{
    for (size_t i = 0; i < ARRAY_LEN(codings); i++) {
        codings[i].pack();
        CHECK_STR(str_of(undo(codings[i].coding, (struct str){ packed, packed_len }, BODY_BYTES)),
                  STR(""), "just enough");
        CHECK_STR(
            str_of(undo(codings[i].coding, (struct str){ packed, packed_len }, BODY_BYTES - 1)),
            STR("http.inflate_limit"), "one too few");
        CHECK_EQ(err.level, ERROR_REQUEST, codings[i].label);
        CHECK_STR(str_of(undo(codings[i].coding, (struct str){ packed, packed_len }, 10)),
                  STR("http.inflate_limit"), "far too few");
        CHECK(arena.used < 2 * BODY_BYTES, "and no memory was made for the rest");
    }
}

/* A few kilobytes that would be a hundred megabytes. */
enum { BOMB_BYTES = 100 << 20, BOMB_MAX = 1 << 20 };

static void pack_bomb(const char *coding, const char *zeros)
{
    packed_len = sizeof(packed);
    if (strcmp(coding, "zstd") == 0)
        packed_len = ZSTD_compress(packed, sizeof(packed), zeros, BOMB_BYTES, 3);
    else if (strcmp(coding, "br") == 0)
        REQUIRE(BrotliEncoderCompress(1, 22, BROTLI_MODE_GENERIC, BOMB_BYTES,
                                      (const uint8_t *)zeros, &packed_len, (uint8_t *)packed),
                "brotli");
    else
        REQUIRE(compress2((Bytef *)packed, &packed_len, (const Bytef *)zeros, BOMB_BYTES, 1) ==
                    Z_OK,
                "zlib");
    REQUIRE(!ZSTD_isError(packed_len) && packed_len < BOMB_BYTES / 100, coding);
}

TEST(a_bomb_is_refused_with_no_more_memory_than_is_allowed)
{
    static const char *const names[] = { "deflate", "br", "zstd" };
    char *zeros = calloc(1, BOMB_BYTES);

    REQUIRE(zeros != NULL, "memory");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        pack_bomb(names[i], zeros);
        CHECK_STR(str_of(undo(names[i], (struct str){ packed, packed_len }, BOMB_MAX)),
                  STR("http.inflate_limit"), names[i]);
        CHECK(arena.used < 4 * BOMB_MAX, names[i]);
    }
    free(zeros);
}

TEST(a_trailer_with_a_wrong_size_is_a_broken_coding)
{
    pack_gzip();
    memset(packed + packed_len - 4, 0, 4);
    CHECK_STR(str_of(undo("gzip", (struct str){ packed, packed_len }, 1 << 20)),
              STR("http.encoding"), "too small");
    memset(packed + packed_len - 4, 0x7F, 4);
    CHECK_STR(str_of(undo("gzip", (struct str){ packed, packed_len }, 1 << 20)),
              STR("http.encoding"), "too large");
}

TEST(members_that_follow_one_another_are_one_body)
{
    char twice[4 * BODY_BYTES];

    pack_gzip();
    memcpy(twice, packed, packed_len);
    memcpy(twice + packed_len, packed, packed_len);
    CHECK_STR(str_of(undo("gzip", (struct str){ twice, 2 * packed_len }, 1 << 20)), STR(""), "two");
    CHECK_EQ(result.len, 2 * sizeof(body), "both");
    memset(twice + packed_len, 0, 100);
    CHECK_STR(str_of(undo("gzip", (struct str){ twice, packed_len + 100 }, 1 << 20)), STR(""),
              "padding");
    CHECK_EQ(result.len, sizeof(body), "is passed over");
}

TEST(broken_and_unknown_codings_are_reported)
{
    static const char *const known[] = { "gzip", "deflate", "br", "zstd" };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        CHECK_STR(str_of(undo(known[i], STR("\xFF\xFEthis is no coding at all, not by far"), 1000)),
                  STR("http.encoding"), known[i]);
        CHECK_STR(str_of(undo(known[i], STR(""), 1000)), STR(""), "nothing is nothing");
        CHECK_EQ(result.len, 0, known[i]);
    }
    CHECK_STR(str_of(undo("compress", STR("x"), 1000)), STR("http.encoding"), "not asked for");
    CHECK_STR(str_of(undo("gzip, gzip", STR("x"), 1000)), STR("http.encoding"), "two");
    CHECK(unpack_is_identity(STR("")) && unpack_is_identity(STR(" Identity ")), "identity");
    CHECK(!unpack_is_identity(STR("gzip")), "gzip");
    arena_release(&arena);
}
