/* Texts of sources stay texts, wherever they are written. */
#include "serve/html.h"

#include "test.h"

static struct str write(struct arena *arena, struct str text, struct str attribute)
{
    struct error err = { 0 };
    struct html h;
    struct buf out;

    buf_init(&out, arena, 1 << 20);
    html_init(&h, &out);
    html_start(&h, "p");
    html_attr(&h, "title", attribute);
    html_text(&h, text);
    html_start(&h, "br");
    html_end(&h);
    html_end(&h);
    html_finish(&h);
    REQUIRE_OK(buf_ok(&out, &err), err);
    return buf_str(&out);
}

static const struct {
    const char *label;
    struct str text;
    const char *as;
} cases[] = {
    { "a script", STR_INIT("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;" },
    { "an end of an attribute", STR_INIT("\" onload=\"x"), "&quot; onload=&quot;x" },
    { "the other quote", STR_INIT("' onload='x"), "&#39; onload=&#39;x" },
    { "an entity", STR_INIT("&lt;&#60;"), "&amp;lt;&amp;#60;" },
    { "a comment", STR_INIT("--><b>"), "--&gt;&lt;b&gt;" },
    { "a NUL and a bell", STR_INIT("a\0b\a"),
      "a\xEF\xBF\xBD"
      "b\xEF\xBF\xBD" },
    { "half a character", STR_INIT("a\xC3<"), "a\xEF\xBF\xBD&lt;" },
    { "lines and tabs", STR_INIT("a\n\tb"), "a\n\tb" },
    { "other letters", STR_INIT("Grüße, 你好"), "Grüße, 你好" },
};

TEST(whatever_a_source_sends_stays_a_text)
{
    struct arena arena;

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct str wanted = arena_printf(
            &arena, "<!doctype html>\n<p title=\"%s\">%s<br></p>", cases[i].as, cases[i].as);

        CHECK_STR(write(&arena, cases[i].text, cases[i].text), wanted, cases[i].label);
    }
    arena_release(&arena);
}

/* No byte that could begin markup is left of any text. */
TEST(no_byte_of_any_text_begins_markup)
{
    struct arena arena;
    char text[2];

    arena_init(&arena, 1 << 20);
    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            struct str page;

            arena_reset(&arena);
            text[0] = (char)a;
            text[1] = (char)b;
            page = write(&arena, (struct str){ text, 2 }, (struct str){ text, 2 });
            page = str_slice(page, 16 + 10, page.len - 8); /* between <p title=" and <br></p> */
            CHECK_EQ(str_find_char(page, '<'), page.len, "no markup");
            CHECK_EQ(str_find_char(page, '"') + 1, str_find_char(page, '>'), "one attribute");
            if (!str_is_utf8(page))
                test_fail(__FILE__, __LINE__, "bytes %d %d are not UTF-8", a, b);
        }
    }
    arena_release(&arena);
}
