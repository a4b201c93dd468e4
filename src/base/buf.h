/* buf: bytes that grow inside an arena, up to a limit given to buf_init().
 *
 * A buf remembers the first append that failed, so callers check once, at the end:
 *
 *      struct buf body;
 *      buf_init(&body, arena, limit);
 *      buf_add(&body, STR("{"));
 *      ...
 *      if (!buf_ok(&body, err)) return false;
 */
#ifndef PATRA_BASE_BUF_H
#define PATRA_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct buf {
    struct arena *arena;
    char *data;
    size_t len;
    size_t capacity;
    size_t limit;
    bool failed;
};

void buf_init(struct buf *buf, struct arena *arena, size_t limit);
void buf_add(struct buf *buf, struct str s);
void buf_add_char(struct buf *buf, char c);
void buf_add_i64(struct buf *buf, int64_t value);
void buf_add_hex(struct buf *buf, const unsigned char *bytes, size_t count); /* lower case */
void buf_printf(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_clear(struct buf *buf); /* empties it; keeps the memory, clears a failure */

struct str buf_str(const struct buf *buf); /* valid until the next append */

/* False if any append failed; the error names the limit that was reached. */
bool buf_ok(const struct buf *buf, struct error *err) MUST_CHECK;

#endif
