/* buf: growth up to the limit, and appending. */
#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CAPACITY_MIN = 64 };

void buf_init(struct buf *buf, struct arena *arena, size_t limit)
{
    *buf = (struct buf){ .arena = arena, .limit = limit };
}

/* Makes room for `more` bytes, which count towards the limit, and `spare` ones, which do not. */
static bool reserve(struct buf *buf, size_t more, size_t spare)
{
    size_t wanted;
    char *data;

    if (buf->failed)
        return false;
    if (more > buf->limit - buf->len) {
        buf->failed = true;
        return false;
    }
    if (buf->len + more + spare <= buf->capacity)
        return true;
    wanted = buf->capacity > 0 ? buf->capacity * 2 : CAPACITY_MIN;
    if (wanted - spare > buf->limit)
        wanted = buf->limit + spare;
    if (wanted < buf->len + more + spare)
        wanted = buf->len + more + spare;
    data = arena_grow(buf->arena, buf->data, buf->capacity, wanted);
    if (data == NULL) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->capacity = wanted;
    return true;
}

void buf_add(struct buf *buf, struct str s)
{
    if (s.len == 0 || !reserve(buf, s.len, 0))
        return;
    memcpy(buf->data + buf->len, s.data, s.len);
    buf->len += s.len;
}

void buf_add_char(struct buf *buf, char c)
{
    if (reserve(buf, 1, 0))
        buf->data[buf->len++] = c;
}

void buf_add_i64(struct buf *buf, int64_t value)
{
    char digits[24], *at = digits + sizeof(digits);
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        *--at = '-';
    buf_add(buf, (struct str){ at, (size_t)(digits + sizeof(digits) - at) });
}

void buf_add_hex(struct buf *buf, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        buf_add_char(buf, digits[bytes[i] >> 4]);
        buf_add_char(buf, digits[bytes[i] & 0x0F]);
    }
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(len >= 0);
    if (!reserve(buf, (size_t)len, 1)) /* for the NUL that vsnprintf writes */
        return;
    va_start(args, format);
    (void)vsnprintf(buf->data + buf->len, (size_t)len + 1, format, args);
    va_end(args);
    buf->len += (size_t)len;
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->failed = false;
}

struct str buf_str(const struct buf *buf)
{
    return (struct str){ buf->data, buf->len };
}

bool buf_ok(const struct buf *buf, struct error *err)
{
    if (!buf->failed)
        return true;
    if (buf->arena->failed)
        return arena_error(buf->arena, err);
    return error_set(err, ERROR_REQUEST, "buffer.limit", "longer than the limit of %zu bytes",
                     buf->limit);
}
