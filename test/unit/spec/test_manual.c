/* The reference in the manual equals what the program prints. */
#include "spec/manual.h"

#include "data/xml.h"
#include "reference.h"
#include "spec/check.h"
#include "test.h"

TEST(the_reference_of_the_manual_is_what_the_program_says)
{
    reference_check("docs/source-format.md",
                    STR("<!-- What follows is made from the tables of the program; see "
                        "src/spec/manual.h. -->\n"),
                    manual_write);
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
