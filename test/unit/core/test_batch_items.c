/* Tests: items of a batch are the same after they were written and read; broken bytes are reported.
 */
#include "core/batch_items.h"

#include <string.h>

#include "test.h"

enum { LONG_ID = 1000 };

static char long_id[LONG_ID];

static struct str written(struct arena *arena)
{
    struct buf out;

    memset(long_id, 'x', sizeof(long_id));
    buf_init(&out, arena, 1 << 20);
    batch_items_begin(&out);
    batch_items_add(&out,
                    &(struct batch_item){ BATCH_ITEM_NEW, STR("10.1/a"), 0x0123456789ABCDEF });
    batch_items_add(&out, &(struct batch_item){ BATCH_ITEM_QUARANTINED, STR(""), 0 });
    batch_items_add(&out,
                    &(struct batch_item){ BATCH_ITEM_LOST, { long_id, LONG_ID }, UINT64_MAX });
    return buf_str(&out);
}

TEST(items_are_read_as_they_were_written)
{
    struct batch_item_reader reader;
    struct batch_item item;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    reader = batch_items_read(written(&arena));
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

TEST(no_bytes_are_no_items)
{
    struct batch_item_reader reader = batch_items_read(STR(""));
    struct batch_item item;

    CHECK(!batch_items_next(&reader, &item) && !reader.is_broken, "none");
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
        struct batch_item_reader reader = batch_items_read(str_slice(whole, 0, len));
        struct batch_item item;

        while (batch_items_next(&reader, &item))
            ;
        whole_items += !reader.is_broken;
    }
    CHECK_EQ(whole_items, 3, "after the version, the first and the second item");
    CHECK(batch_items_read(STR("\x02")).is_broken, "a later version");
    arena_release(&arena);
}

TEST(a_hash_is_the_beginning_of_its_hex)
{
    CHECK(batch_item_hash(STR("0123456789abcdef0123")) == 0x0123456789ABCDEF, "16 digits");
    CHECK(batch_item_hash(STR("")) == 0, "none");
    CHECK(batch_item_hash(STR("0123456789abcdeg")) == 0, "no digit");
}
