/* What a server says about a file, and places in it. */
#include "engine/fetch/bulk_file.h"

#include <string.h>

bool bulk_file_keep(char kept[BULK_TAG_MAX], struct str text)
{
    kept[0] = '\0';
    if (text.len >= BULK_TAG_MAX || !http_is_header_value(text))
        return false;
    if (text.len > 0)
        memcpy(kept, text.data, text.len);
    kept[text.len] = '\0';
    return true;
}

struct bulk_file bulk_file_of(const struct http_response *reply)
{
    const struct str length = http_header_value(reply->headers, STR("Content-Length"));
    struct bulk_file file = { 0 };

    (void)!bulk_file_keep(file.etag, str_trim(http_header_value(reply->headers, STR("ETag"))));
    (void)!bulk_file_keep(file.modified,
                          str_trim(http_header_value(reply->headers, STR("Last-Modified"))));
    file.has_length = str_to_i64(str_trim(length), &file.length) && file.length >= 0;
    if (!file.has_length)
        file.length = 0;
    return file;
}

static bool texts_differ(const char *a, const char *b)
{
    return a[0] != '\0' && b[0] != '\0' && strcmp(a, b) != 0;
}

/* Servers behind one name may give a file different dates; the tag is what they agree on. */
bool bulk_file_differs(const struct bulk_file *a, const struct bulk_file *b)
{
    if (a->has_length && b->has_length && a->length != b->length)
        return true;
    if (a->etag[0] != '\0' && b->etag[0] != '\0')
        return texts_differ(a->etag, b->etag);
    return texts_differ(a->modified, b->modified);
}

/* Not by a weak tag: RFC 9110 section 13.1.5. */
struct str bulk_file_validator(const struct bulk_file *file)
{
    const struct str etag = str_of(file->etag);

    if (etag.len > 0)
        return str_starts(etag, STR("W/")) ? STR("") : etag;
    return str_of(file->modified);
}

static bool is_of_file(const struct http_response *reply, const struct bulk_file *file)
{
    struct bulk_file theirs = bulk_file_of(reply);

    theirs.has_length = false; /* that of the part */
    return !bulk_file_differs(file, &theirs);
}

/* "bytes 1000-1999/2000". A server may give less than was requested. */
bool bulk_range_fits(const struct http_response *reply, const struct bulk_file *file, int64_t from,
                     int64_t *end)
{
    struct str range = str_trim(http_header_value(reply->headers, STR("Content-Range")));
    int64_t first = -1, last = -1, total = file->length;
    bool has_total = file->has_length;

    if (!is_of_file(reply, file) || !str_eq_nocase(str_cut(&range, ' '), STR("bytes")) ||
        !str_to_i64(str_cut(&range, '-'), &first) || first != from ||
        !str_to_i64(str_cut(&range, '/'), &last))
        return false;
    if (!str_eq(range, STR("*"))) {
        if (!str_to_i64(range, &total) || (file->has_length && total != file->length))
            return false;
        has_total = true;
    }
    *end = total;
    return has_total && last == total - 1;
}

bool bulk_place_add(struct bulk_place *place, struct hash *hash, struct str record,
                    struct error *err)
{
    struct hash_sum one;
    unsigned char both[2 * HASH_BYTES];

    if (!hash_of_next(hash, record, &one, err))
        return false;
    memcpy(both, place->sum.bytes, HASH_BYTES);
    memcpy(both + HASH_BYTES, one.bytes, HASH_BYTES);
    place->records++;
    return hash_of_next(hash, (struct str){ (const char *)both, sizeof(both) }, &place->sum, err);
}
