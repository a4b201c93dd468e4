/* What kind=reshape makes of a body. */
#include "sim/fault/reshape.h"

#include "test.h"

static const struct {
    const char *label;
    const char *body;
    const char *member;
    enum reshape_as as;
    const char *wanted;
} cases[] = {
    { "an object", "{\"items\":[1,2],\"total\":2}", "items", RESHAPE_OBJECT,
      "{\"items\":{\"error\":{\"code\":\"overload\",\"message\":\"try again "
      "later\"}},\"total\":2}" },
    { "the first member", "{\"items\":[1,2],\"total\":2}", "items", RESHAPE_NOTHING,
      "{\"total\":2}" },
    { "the last member", "{\"items\":[1,2],\"total\":2}", "total", RESHAPE_NOTHING,
      "{\"items\":[1,2]}" },
    { "the only member", "{\"total\":2}", "total", RESHAPE_NOTHING, "{}" },
    { "null", "{\"total\": 2 }", "total", RESHAPE_NULL, "{\"total\": null }" },
    { "a text", "{\"total\":2}", "total", RESHAPE_TEXT, "{\"total\":\"many\"}" },
    { "in an object", "{\"next\":\"a,}\\\"b\"}", "next", RESHAPE_WRAPPED,
      "{\"next\":{\"value\":\"a,}\\\"b\"}}" },
    { "other content", "{\"title\":[\"A\"]}", "title", RESHAPE_ALTERED,
      "{\"title\":[\"Altered A\"]}" },
    { "the least deep", "{\"items\":[{\"total\":7}],\"total\":2}", "total", RESHAPE_NULL,
      "{\"items\":[{\"total\":7}],\"total\":null}" },
    { "a text is not a key", "{\"a\":\"total\",\"total\":2}", "total", RESHAPE_NULL,
      "{\"a\":\"total\",\"total\":null}" },
    { "not there", "{\"items\":[]}", "total", RESHAPE_NULL, "{\"items\":[]}" },
    { "the whole body", "[1,2]", "", RESHAPE_NULL, "null" },
    { "an element", "<?xml version=\"1.0\"?><r><l a=\"1\"><i/></l><t>2</t></r>", "l",
      RESHAPE_NOTHING, "<?xml version=\"1.0\"?><r><t>2</t></r>" },
    { "an element with a prefix", "<r><o:t x=\"1\">2</o:t></r>", "t", RESHAPE_TEXT,
      "<r><o:t x=\"1\">many</o:t></r>" },
    { "an element in one of its name", "<r><t>1<t>2</t></t></r>", "t", RESHAPE_NULL,
      "<r><t></t></r>" },
    { "an element without content is passed over", "<r><t/><t>2</t></r>", "t", RESHAPE_NULL,
      "<r><t/><t></t></r>" },
    { "an attribute", "<r><t size=\"9\" c=\"1\">x</t></r>", "@size", RESHAPE_NOTHING,
      "<r><t c=\"1\">x</t></r>" },
    { "an attribute without a value", "<r><t size=\"9\">x</t></r>", "@size", RESHAPE_NULL,
      "<r><t size=\"\">x</t></r>" },
};

TEST(one_member_is_changed_and_the_rest_is_left)
{
    struct arena arena;

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct reshape reshape = { str_of(cases[i].member), cases[i].as };

        CHECK_STR(reshape_body(&arena, str_of(cases[i].body), &reshape), str_of(cases[i].wanted),
                  cases[i].label);
    }
    arena_release(&arena);
}
