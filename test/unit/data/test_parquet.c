/* Files of Parquet. test/data/parquet/all-types.parquet is what this test writes, as pyarrow and
 * DuckDB read it (scripts/parquet): the bytes must stay the same. */
#include "data/parquet.h"

#include "test.h"

enum { MEMORY = 64 << 20 };

struct file {
    struct arena arena;
    struct buf bytes;
};

static bool keep(void *self, struct str bytes, struct error *err)
{
    struct file *file = self;

    buf_add(&file->bytes, bytes);
    return buf_ok(&file->bytes, err);
}

static void file_init(struct file *file)
{
    arena_init(&file->arena, MEMORY);
    buf_init(&file->bytes, &file->arena, MEMORY);
}

static struct parquet_options options_of(struct file *file, const struct parquet_column *columns,
                                         int count)
{
    return (struct parquet_options){ .columns = columns,
                                     .column_count = count,
                                     .created_by = STR("patra test"),
                                     .write = keep,
                                     .self = file,
                                     .bytes_max = MEMORY };
}

/* ---- levels ---- */

TEST(levels_are_a_run_or_bits)
{
    static const struct {
        const char *label;
        struct str levels;
        int width;
        struct str bytes;
    } cases[] = {
        { "all one", STR_INIT("\1\1\1\1\1\1\1\1\1"), 1, STR_INIT("\2\0\0\0\x12\1") },
        { "all zero", STR_INIT("\0\0\0"), 1, STR_INIT("\2\0\0\0\6\0") },
        { "mixed", STR_INIT("\1\0\1"), 1, STR_INIT("\2\0\0\0\3\5") },
        { "two bits", STR_INIT("\0\1\2\3\0\1\2\3"), 2, STR_INIT("\3\0\0\0\3\xe4\xe4") },
        { "nine", STR_INIT("\0\0\0\0\0\0\0\0\1"), 1, STR_INIT("\3\0\0\0\5\0\1") },
        { "none", STR_INIT(""), 1, STR_INIT("\1\0\0\0\1") },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct file file;

        file_init(&file);
        parquet_levels(&file.bytes, cases[i].levels, cases[i].width);
        CHECK_STR(buf_str(&file.bytes), cases[i].bytes, cases[i].label);
        arena_release(&file.arena);
    }
}

/* ---- a file with everything ---- */

static const struct parquet_column ALL[] = {
    { STR_INIT("text"), PARQUET_TEXT, false },
    { STR_INIT("json"), PARQUET_JSON, false },
    { STR_INIT("bytes"), PARQUET_BYTES, false },
    { STR_INIT("integer"), PARQUET_INTEGER, false },
    { STR_INIT("number"), PARQUET_NUMBER, false },
    { STR_INIT("boolean"), PARQUET_BOOLEAN, false },
    { STR_INIT("instant"), PARQUET_INSTANT, false },
    { STR_INIT("date"), PARQUET_DATE, false },
    { STR_INIT("texts"), PARQUET_TEXT, true },
    { STR_INIT("integers"), PARQUET_INTEGER, true },
};
enum { ALL_COUNT = 10, ALL_PLAIN = 8 };

static const struct parquet_value NULL_VALUE = { .is_null = true };

static void add_all(struct parquet *parquet, const struct parquet_value *row)
{
    for (int i = 0; i < ALL_PLAIN; i++)
        parquet_add(parquet, i, &row[i]);
}

static void add_full_row(struct parquet *parquet)
{
    const struct parquet_value row[] = {
        { .text = STR("Ångström") },
        { .text = STR("{\"a\":1}") },
        { .text = STR("\xff\xfe") },
        { .integer = INT64_MAX },
        { .number = 0.1 },
        { .boolean = true },
        { .integer = 1767225600123456 },
        { .integer = 20454 },
    };
    const struct parquet_value texts[] = { { .text = STR("a") },
                                           { .is_null = true },
                                           { .text = STR("") } };
    const struct parquet_value integers[] = { { .integer = -1 }, { .integer = INT64_MIN } };

    add_all(parquet, row);
    parquet_add_list(parquet, 8, texts, ARRAY_LEN(texts));
    parquet_add_list(parquet, 9, integers, ARRAY_LEN(integers));
}

static void add_null_row(struct parquet *parquet)
{
    for (int i = 0; i < ALL_PLAIN; i++)
        parquet_add(parquet, i, &NULL_VALUE);
    parquet_add_list(parquet, 8, NULL, 0);
    parquet_add_list(parquet, 9, &NULL_VALUE, 0);
}

TEST(all_types_nulls_and_lists_are_written_as_other_programs_read_them)
{
    struct file file;
    struct parquet parquet;
    struct error err = { 0 };
    struct parquet_options options;

    file_init(&file);
    options = options_of(&file, ALL, ALL_COUNT);
    REQUIRE_OK(parquet_open(&parquet, &options, &err), err);
    add_full_row(&parquet);
    REQUIRE_OK(parquet_end_row(&parquet, &err), err);
    add_null_row(&parquet);
    REQUIRE_OK(parquet_end_row(&parquet, &err), err);
    REQUIRE_OK(parquet_finish(&parquet, &err), err);
    CHECK_STR(buf_str(&file.bytes), test_read("test/data/parquet/all-types.parquet"), "the bytes");
    parquet_close(&parquet);
    arena_release(&file.arena);
}

TEST(a_file_without_rows_has_its_columns)
{
    struct file file;
    struct parquet parquet;
    struct error err = { 0 };
    struct parquet_options options;

    file_init(&file);
    options = options_of(&file, ALL, ALL_COUNT);
    REQUIRE_OK(parquet_open(&parquet, &options, &err), err);
    REQUIRE_OK(parquet_finish(&parquet, &err), err);
    CHECK_STR(buf_str(&file.bytes), test_read("test/data/parquet/no-rows.parquet"), "the bytes");
    parquet_close(&parquet);
    arena_release(&file.arena);
}

/* ---- row groups ---- */

static const struct parquet_column ONE[] = { { STR_INIT("text"), PARQUET_TEXT, false } };

TEST(memory_does_not_grow_with_the_file)
{
    static char text[100000];
    const struct parquet_value value = { .text = { text, sizeof(text) } };
    struct file file;
    struct parquet parquet;
    struct error err = { 0 };
    struct parquet_options options;
    size_t after_one = 0;

    file_init(&file);
    options = options_of(&file, ONE, 1);
    options.bytes_max = 8 * (size_t)PARQUET_GROUP_BYTES;
    REQUIRE_OK(parquet_open(&parquet, &options, &err), err);
    while (parquet.group_count < 5) {
        parquet_add(&parquet, 0, &value);
        REQUIRE_OK(parquet_end_row(&parquet, &err), err);
        if (parquet.group_count == 1 && after_one == 0)
            after_one = parquet.page_arena.used;
        buf_clear(&file.bytes);
    }
    CHECK(parquet.page_arena.used <= after_one, "pages are let go");
    CHECK_EQ(parquet.rows, 5 * (PARQUET_GROUP_BYTES / (int)sizeof(text) + 1),
             "rows of five groups");
    parquet_close(&parquet);
    arena_release(&file.arena);
}

TEST(a_failure_of_the_output_or_of_memory_is_told)
{
    static const char text[4096] = { 'x' };
    const struct parquet_value value = { .text = { text, sizeof(text) } };
    struct file file;
    struct parquet parquet;
    struct error err = { 0 };
    struct parquet_options options;
    bool ok = true;

    file_init(&file);
    file.bytes.limit = 2; /* less than the magic bytes */
    options = options_of(&file, ONE, 1);
    CHECK(!parquet_open(&parquet, &options, &err), "the output is full");
    parquet_close(&parquet);
    file.bytes.limit = MEMORY;
    buf_clear(&file.bytes);
    options.bytes_max = 20000;
    REQUIRE_OK(parquet_open(&parquet, &options, &err), err);
    for (int i = 0; i < 10 && ok; i++) {
        parquet_add(&parquet, 0, &value);
        ok = parquet_end_row(&parquet, &err);
    }
    CHECK(!ok, "memory is used up");
    parquet_close(&parquet);
    arena_release(&file.arena);
}
