/* Tables on a terminal: instants, windows, rows, notes and long words. */
#include "cli/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "test.h"

/* 2026-11-16T10:00:00Z */
#define NOW_US INT64_C(1794823200000000)

static struct arena arena;

static struct columns table(const char *const *heads, size_t count)
{
    struct columns columns;

    if (arena.limit == 0)
        arena_init(&arena, (size_t)1 << 20);
    columns_init(&columns, &arena, heads, count);
    return columns;
}

/* As it is printed; in the arena. */
static struct str printed(const struct columns *columns)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct error err;
    struct str copy;

    REQUIRE(out != NULL, "a stream");
    REQUIRE_OK(columns_print(columns, out, &err), err);
    REQUIRE(fclose(out) == 0, "its end");
    copy = arena_copy(&arena, (struct str){ text, len });
    free(text);
    return copy;
}

static int64_t at(int year, int month, int day, int hour, int minute, int second)
{
    return instant_from_civil((struct civil){ year, month, day, hour, minute, second, 0 });
}

TEST(an_instant_is_shown_to_the_minute_and_no_longer_than_needed)
{
    const struct {
        int64_t at_us;
        const char *text;
    } cases[] = {
        { at(2026, 3, 1, 0, 0, 0), "2026-03-01" },
        { at(2024, 2, 29, 0, 0, 0), "2024-02-29" },
        { at(2026, 3, 1, 0, 0, 1), "03-01 00:00" },
        { at(2026, 12, 31, 23, 59, 59), "12-31 23:59" },
        { at(2025, 12, 31, 23, 59, 59), "2025-12-31 23:59" },
        { at(1969, 7, 20, 20, 17, 40), "1969-07-20 20:17" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct columns columns = table((const char *[]){ "AT" }, 1);
        char wanted[64];

        columns_brief(&columns, cases[i].at_us, NOW_US);
        (void)snprintf(wanted, sizeof(wanted), "AT\n%s\n", cases[i].text);
        CHECK_STR(printed(&columns), str_of(wanted), cases[i].text);
    }
}

TEST(a_window_that_is_none_is_two_dashes)
{
    struct columns columns = table((const char *[]){ "FROM", "TO" }, 2);

    columns_window(&columns, (struct window){ 0 }, NOW_US);
    columns_window(&columns, (struct window){ at(2026, 1, 1, 0, 0, 0), at(2026, 1, 2, 3, 4, 5) },
                   NOW_US);
    CHECK_STR(printed(&columns),
              STR("FROM        TO\n"
                  "-           -\n"
                  "2026-01-01  01-02 03:04\n"),
              "both");
}

TEST(a_row_ends_with_its_last_word)
{
    struct columns columns = table((const char *[]){ "A", "B", "C" }, 3);

    columns_cell(&columns, STR("1"));
    columns_cell(&columns, STR(""));
    columns_cell(&columns, STR(""));
    columns_cell(&columns, STR("2"));
    columns_cell(&columns, STR("long"));
    columns_cell(&columns, STR("x"));
    CHECK_STR(printed(&columns), STR("A  B     C\n1\n2  long  x\n"), "no blanks at the end");
}

/* What an error says has no bound; the table has. */
TEST(a_note_is_broken_between_words_and_stays_within_the_table)
{
    struct columns columns = table((const char *[]){ "TASK", "STATUS" }, 2);
    char text[512] = "", wanted[1024] = "";
    struct str left, line;

    for (int i = 0; i < 40; i++)
        (void)strcat(text, i == 20 ? "gr\xC3\xBC\xC3\x9F " : "word ");
    columns_i64(&columns, 1);
    columns_cell(&columns, STR("FAILED"));
    columns_note(&columns, str_of(text));
    columns_i64(&columns, 2);
    columns_cell(&columns, STR("SUCCEEDED"));
    columns_note(&columns, STR(""));
    left = printed(&columns);
    for (int i = 0; left.len > 0; i++) {
        line = str_cut(&left, '\n');
        CHECK(line.len <= COLUMNS_WIDTH + 2, "no line is longer than the terminal");
        if (i >= 2 && str_starts(line, STR("    ")))
            (void)snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), "%.*s ",
                           STR_ARG(str_trim(line)));
    }
    CHECK_STR(str_trim(str_of(wanted)), str_trim(str_of(text)), "and no word is lost");
    CHECK(str_starts(line, STR("2     SUCCEEDED")), "an empty note is none");
}

TEST(an_address_longer_than_a_line_is_not_cut)
{
    struct columns columns = table((const char *[]){ "TASK" }, 1);
    char address[128], wanted[256];

    memset(address, 'a', sizeof(address) - 1);
    address[sizeof(address) - 1] = '\0';
    columns_i64(&columns, 1);
    columns_note(&columns, arena_printf(&arena, "GET %s: no", address));
    (void)snprintf(wanted, sizeof(wanted), "TASK\n1\n    GET\n    %s:\n    no\n", address);
    CHECK_STR(printed(&columns), str_of(wanted), "whole, on a line of its own");
}
