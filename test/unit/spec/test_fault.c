/* The list of faults: how it prints, sorts and counts. */
#include "spec/fault.h"

#include "test.h"

TEST(a_fault_is_a_line_that_editors_understand)
{
    struct fault_list list;
    struct arena arena;
    struct buf out;

    arena_init(&arena, 1 << 20);
    fault_list_init(&list, &arena);
    buf_init(&out, &arena, 4096);
    fault_error(&list, "spec.page.token-needs-next", (struct mark){ 12, 5 }, "%s is missing",
                "endpoints.works.page.next");
    fault_hint(&list, "say where it is");
    fault_warn(&list, "spec.response.no-total", (struct mark){ 0, 0 }, "no total");
    fault_print(&list.items[0], STR("x.yaml"), &out);
    fault_print(&list.items[1], STR(""), &out);
    CHECK_STR(buf_str(&out),
              STR("x.yaml:12:5: error: endpoints.works.page.next is missing "
                  "[spec.page.token-needs-next]\n  hint: say where it is\n"
                  "warning: no total [spec.response.no-total]\n"),
              "both");
    CHECK_EQ(list.errors, 1, "errors");
    CHECK_EQ(list.warnings, 1, "warnings");
    arena_release(&arena);
}

TEST(faults_come_in_the_order_of_the_file)
{
    static const struct mark marks[] = { { 3, 1 }, { 1, 9 }, { 1, 2 }, { 0, 0 }, { 1, 9 } };
    struct fault_list list;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    fault_list_init(&list, &arena);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        fault_error(&list, "x", marks[i], "%zu", i);
    fault_list_sort(&list);
    CHECK_STR(list.items[0].message, STR("3"), "without a place");
    CHECK_STR(list.items[1].message, STR("2"), "1:2");
    CHECK_STR(list.items[2].message, STR("1"), "1:9, the first reported");
    CHECK_STR(list.items[3].message, STR("4"), "1:9, the second");
    CHECK_STR(list.items[4].message, STR("0"), "3:1");
    arena_release(&arena);
}

TEST(beyond_the_limit_faults_are_still_counted)
{
    struct fault_list list;
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 20);
    fault_list_init(&list, &arena);
    CHECK(fault_list_ok(&list, &err), "no fault yet");
    fault_warn(&list, "w", (struct mark){ 0 }, "only a warning");
    CHECK(fault_list_ok(&list, &err), "a warning is none");
    for (size_t i = 0; i < FAULTS_MAX + 10; i++) {
        fault_error(&list, "x", (struct mark){ 0 }, "%zu", i);
        fault_hint(&list, "hint %zu", i);
    }
    CHECK_EQ(list.count, FAULTS_MAX, "kept");
    CHECK_EQ(list.errors, FAULTS_MAX + 10, "counted");
    CHECK_STR(list.items[FAULTS_MAX - 1].hint, STR("hint 498"), "hints stay with their faults");
    CHECK(!fault_list_ok(&list, &err), "errors");
    CHECK_STR(str_of(err.code), STR("spec.invalid"), "code");
    arena_release(&arena);
}
