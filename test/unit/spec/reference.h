/* reference: the rest of a page of the manual, which the program makes of its tables.
 *
 * A test compares the two. With PATRA_WRITE_DOCS=1 in its environment it writes the page instead.
 */
#ifndef PATRA_TEST_UNIT_SPEC_REFERENCE_H
#define PATRA_TEST_UNIT_SPEC_REFERENCE_H

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "test.h"

/* `begin` is the line of the page before it. */
static inline void reference_check(const char *page, struct str begin,
                                   void (*write)(struct buf *out))
{
    const struct str manual = test_read(page);
    const size_t from = str_find(manual, begin) + begin.len;
    struct arena arena;
    struct buf out;

    REQUIRE(manual.data != NULL && from <= manual.len, "the manual has a place for it");
    arena_init(&arena, 1 << 24);
    buf_init(&out, &arena, 1 << 20);
    write(&out);
    REQUIRE(!out.failed, "it fits");
    if (getenv("PATRA_WRITE_DOCS") != NULL) {
        FILE *file = fopen(page, "wb");

        REQUIRE(file != NULL, page);
        (void)fwrite(manual.data, 1, from, file);
        (void)fwrite(out.data, 1, out.len, file);
        (void)fclose(file);
    } else
        CHECK(str_eq(str_slice(manual, from, manual.len), buf_str(&out)),
              "stale: run this test with PATRA_WRITE_DOCS=1");
    arena_release(&arena);
}

#endif
