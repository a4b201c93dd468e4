/* The reference in the manual equals what the program prints. */
#include "spec/manual.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/xml.h"
#include "spec/check.h"
#include "test.h"

static const char MANUAL[] = "docs/source-format.md";
static const char BEGIN[] = "<!-- What follows is made from the tables of the program; see "
                            "src/spec/manual.h. -->\n";

/* With PATRA_WRITE_DOCS=1 the reference is rewritten instead of compared. */
TEST(the_reference_of_the_manual_is_what_the_program_says)
{
    const struct str manual = test_read(MANUAL);
    const size_t begin = str_find(manual, str_of(BEGIN));
    struct arena arena;
    struct buf out;

    REQUIRE(manual.data != NULL && begin < manual.len, "the manual has a place for it");
    arena_init(&arena, 1 << 24);
    buf_init(&out, &arena, 1 << 20);
    manual_write(&out);
    REQUIRE(!out.failed, "it fits");
    if (getenv("PATRA_WRITE_DOCS") != NULL) {
        FILE *file = fopen(MANUAL, "wb");

        REQUIRE(file != NULL, MANUAL);
        (void)fwrite(manual.data, 1, begin + sizeof(BEGIN) - 1, file);
        (void)fwrite(out.data, 1, out.len, file);
        (void)fclose(file);
    } else
        CHECK(str_eq(str_slice(manual, begin + sizeof(BEGIN) - 1, manual.len), buf_str(&out)),
              "stale: run this test with PATRA_WRITE_DOCS=1");
    arena_release(&arena);
}

/* The first block of YAML in each page is a whole source. */
TEST(whole_sources_in_the_manual_have_no_faults)
{
    static const char *const pages[] = { "docs/source-format.md", "docs/writing-a-source.md" };

    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        struct str text = test_read(pages[i]);
        struct fault_list faults;
        struct source source;
        struct arena arena;

        text = str_slice(text, str_find(text, STR("```yaml\n")) + 8, text.len);
        text = str_slice(text, 0, str_find(text, STR("```")));
        CHECK(text.len > 0, pages[i]);
        arena_init(&arena, 1 << 24);
        fault_list_init(&faults, &arena);
        CHECK(source_lint(&arena, &xml_module, &(struct source_text){ .file = text }, &faults,
                          &source),
              pages[i]);
        CHECK_EQ(faults.count, 0, pages[i]);
        for (size_t f = 0; f < faults.count; f++)
            test_note("%u: %.*s", faults.items[f].at.line, STR_ARG(faults.items[f].message));
        arena_release(&arena);
    }
}
