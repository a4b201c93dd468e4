/* Tests: items of a batch are the same after they were written and read; broken bytes are reported.
 */
#include "core/batch_items.h"

#include <string.h>

#include "test.h"

enum { LONG_ID = 1000 };

static char long_id[LONG_ID];

static struct str written(struct arena *arena)
{
    struct batch_item_writer writer;
    struct buf out;

    memset(long_id, 'x', sizeof(long_id));
    buf_init(&out, arena, 1 << 20);
    writer = batch_items_begin(&out);
    batch_items_add(&writer,
                    &(struct batch_item){ BATCH_ITEM_NEW, STR("10.1/a"), 0x0123456789ABCDEF });
    batch_items_add(&writer, &(struct batch_item){ BATCH_ITEM_QUARANTINED, STR(""), 0 });
    batch_items_add(&writer,
                    &(struct batch_item){ BATCH_ITEM_LOST, { long_id, LONG_ID }, UINT64_MAX });
    return buf_str(&out);
}

TEST(items_are_read_as_they_were_written)
{
    struct batch_item_reader reader;
    struct batch_item item;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    reader = batch_items_read(&arena, written(&arena));
    REQUIRE(batch_items_next(&reader, &item), "the first");
    CHECK_EQ(item.kind, BATCH_ITEM_NEW, "kind");
    CHECK_STR(item.id, STR("10.1/a"), "id");
    CHECK(item.hash == 0x0123456789ABCDEF, "hash");
    REQUIRE(batch_items_next(&reader, &item), "the second");
    CHECK_EQ(item.id.len, 0, "no id");
    REQUIRE(batch_items_next(&reader, &item), "the third");
    CHECK_EQ(item.id.len, LONG_ID, "a long id");
    CHECK(item.hash == UINT64_MAX, "hash");
    CHECK(!batch_items_next(&reader, &item), "the end");
    CHECK(!reader.is_broken, "is no fault");
    arena_release(&arena);
}

/* Ids, in the order in which they are written. */
static const char *const IN_ORDER[] = { "10.1/a", "10.1/aa", "10.1/ab", "10.1/ab", "11", "" };

TEST(ids_are_read_whole_though_only_their_ends_are_written)
{
    struct batch_item_writer writer;
    struct batch_item_reader reader;
    struct batch_item item;
    struct arena arena;
    struct buf out;

    arena_init(&arena, 1 << 20);
    buf_init(&out, &arena, 1 << 20);
    writer = batch_items_begin(&out);
    for (size_t i = 0; i < ARRAY_LEN(IN_ORDER); i++)
        batch_items_add(&writer, &(struct batch_item){ BATCH_ITEM_NEW, str_of(IN_ORDER[i]), i });
    CHECK_EQ(buf_str(&out).len, 1 + 6 * (3 + 8) + 6 + 1 + 1 + 0 + 1 + 0, "each beginning once");
    reader = batch_items_read(&arena, buf_str(&out));
    for (size_t i = 0; i < ARRAY_LEN(IN_ORDER); i++) {
        REQUIRE(batch_items_next(&reader, &item), IN_ORDER[i]);
        CHECK_STR(item.id, str_of(IN_ORDER[i]), IN_ORDER[i]);
        CHECK(item.hash == i, IN_ORDER[i]);
    }
    CHECK(!batch_items_next(&reader, &item) && !reader.is_broken, "the end");
    arena_release(&arena);
}

/* Two items as they were written before: each id whole. */
static const char WHOLE[] = "\1"
                            "\0\3abc\0\0\0\0\0\0\0\7"
                            "\2\3abd\0\0\0\0\0\0\0\10";

TEST(bytes_of_the_first_version_are_read)
{
    struct batch_item_reader reader;
    struct batch_item item;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    reader = batch_items_read(&arena, (struct str){ WHOLE, sizeof(WHOLE) - 1 });
    REQUIRE(batch_items_next(&reader, &item), "the first");
    CHECK_STR(item.id, STR("abc"), "id");
    CHECK_EQ(item.hash, 7, "hash");
    REQUIRE(batch_items_next(&reader, &item), "the second");
    CHECK_EQ(item.kind, BATCH_ITEM_UNCHANGED, "kind");
    CHECK_STR(item.id, STR("abd"), "id");
    CHECK_EQ(item.hash, 8, "hash");
    CHECK(!batch_items_next(&reader, &item) && !reader.is_broken, "the end");
    arena_release(&arena);
}

TEST(an_id_that_begins_with_more_than_there_was_is_broken)
{
    static const char bytes[] = "\2\0\0\1a\0\0\0\0\0\0\0\0"
                                "\0\2\0\0\0\0\0\0\0\0\0";
    struct batch_item_reader reader;
    struct batch_item item;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    reader = batch_items_read(&arena, (struct str){ bytes, sizeof(bytes) - 1 });
    CHECK(batch_items_next(&reader, &item), "the first");
    CHECK(!batch_items_next(&reader, &item) && reader.is_broken, "two bytes of one");
    arena_release(&arena);
}

TEST(no_bytes_are_no_items)
{
    struct batch_item_reader reader;
    struct batch_item item;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    reader = batch_items_read(&arena, STR(""));
    CHECK(!batch_items_next(&reader, &item) && !reader.is_broken, "none");
    arena_release(&arena);
}

/* Cut between two items there are fewer; anywhere else they are broken. */
TEST(bytes_that_were_cut_are_broken)
{
    struct arena arena;
    struct str whole;
    int whole_items = 0;

    arena_init(&arena, 1 << 20);
    whole = written(&arena);
    for (size_t len = 1; len < whole.len; len++) {
        struct batch_item_reader reader = batch_items_read(&arena, str_slice(whole, 0, len));
        struct batch_item item;

        while (batch_items_next(&reader, &item))
            ;
        whole_items += !reader.is_broken;
    }
    CHECK_EQ(whole_items, 3, "after the version, the first and the second item");
    CHECK(batch_items_read(&arena, STR("\x03")).is_broken, "a later version");
    arena_release(&arena);
}

TEST(a_hash_is_the_beginning_of_its_hex)
{
    CHECK(batch_item_hash(STR("0123456789abcdef0123")) == 0x0123456789ABCDEF, "16 digits");
    CHECK(batch_item_hash(STR("")) == 0, "none");
    CHECK(batch_item_hash(STR("0123456789abcdeg")) == 0, "no digit");
}
