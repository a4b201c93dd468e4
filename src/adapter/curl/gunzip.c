/* A gzip file, member by member. */
#include "adapter/curl/gunzip.h"

#include <string.h>

enum { MAGIC_BYTES = 2 };

static bool has_magic(struct str bytes)
{
    return bytes.len >= MAGIC_BYTES && (unsigned char)bytes.data[0] == 0x1F &&
           (unsigned char)bytes.data[1] == 0x8B;
}

static void skip(struct str *in, size_t count)
{
    *in = str_slice(*in, count, in->len);
}

/* False while the first bytes do not show what it is. */
static bool recognise(struct gunzip *gunzip, struct str in, bool is_all, struct error *err,
                      bool *ok)
{
    *ok = true;
    if (gunzip->is_known)
        return true;
    if (in.len < MAGIC_BYTES && !is_all)
        return false;
    gunzip->is_known = true;
    gunzip->is_packed = has_magic(in);
    if (gunzip->is_packed && inflateInit2(&gunzip->stream, MAX_WBITS + 16) != Z_OK) {
        gunzip->is_packed = false;
        *ok = error_set(err, ERROR_TRANSIENT, "http.resource", "no memory to unpack a file");
    }
    return *ok;
}

static bool copy(struct str *in, struct http_room room, size_t *len)
{
    *len = in->len < room.len ? in->len : room.len;
    if (*len > 0)
        memcpy(room.data, in->data, *len);
    skip(in, *len);
    return true;
}

/* Another member, or padding: zeros, as tapes and archives have them. What else follows could be a
 * member whose first bytes are damaged, with all that comes after it. */
static bool skip_padding(struct str *in, struct error *err)
{
    for (; in->len > 0; skip(in, 1)) {
        if (in->data[0] != '\0')
            return error_set(err, ERROR_TRANSIENT, "http.encoding",
                             "what follows the gzip file is neither a member of it nor padding");
    }
    return true;
}

/* False: the bytes do not show yet what follows, or only padding does. */
static bool begin_member(struct gunzip *gunzip, struct str *in, bool is_all)
{
    if (in->len < MAGIC_BYTES && !is_all)
        return false;
    if (has_magic(*in) && inflateReset(&gunzip->stream) == Z_OK) {
        gunzip->is_whole = false;
        return true;
    }
    gunzip->is_over = true;
    return false;
}

static bool inflate_some(struct gunzip *gunzip, struct str *in, struct http_room room, size_t *len,
                         struct error *err)
{
    z_stream *stream = &gunzip->stream;
    int result;

    stream->next_in = (Bytef *)in->data;
    stream->avail_in = (uInt)in->len;
    stream->next_out = (Bytef *)room.data;
    stream->avail_out = (uInt)room.len;
    result = inflate(stream, Z_NO_FLUSH);
    skip(in, in->len - stream->avail_in);
    *len = room.len - stream->avail_out;
    gunzip->is_whole = result == Z_STREAM_END;
    if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR)
        return true;
    return error_set(err, ERROR_TRANSIENT, "http.encoding", "the gzip file is broken");
}

bool gunzip_take(struct gunzip *gunzip, struct str *in, bool is_all, struct http_room room,
                 size_t *len, struct error *err)
{
    bool ok;

    *len = 0;
    if (!recognise(gunzip, *in, is_all, err, &ok))
        return ok;
    if (!gunzip->is_packed)
        return copy(in, room, len);
    while (*len == 0 && in->len > 0) {
        if (gunzip->is_over)
            return skip_padding(in, err);
        if (gunzip->is_whole && !begin_member(gunzip, in, is_all)) {
            if (!gunzip->is_over)
                break;
            continue;
        }
        if (!inflate_some(gunzip, in, room, len, err))
            return false;
    }
    return true;
}

bool gunzip_end(const struct gunzip *gunzip, struct error *err)
{
    if (!gunzip->is_packed || gunzip->is_whole || gunzip->is_over)
        return true;
    return error_set(err, ERROR_TRANSIENT, "http.truncated", "the gzip file has no end");
}

void gunzip_release(struct gunzip *gunzip)
{
    if (gunzip->is_packed)
        (void)inflateEnd(&gunzip->stream);
    *gunzip = (struct gunzip){ 0 };
}
