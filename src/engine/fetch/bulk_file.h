/* bulk_file: which file a place is in, and whether a response is of that file.
 *
 * A server says what a file is by an ETag, or by its date and length. A place is the number of
 * records before it, where it is in the (unpacked) bytes, and a hash of those records, one after
 * the other: sum = SHA-256(sum, SHA-256(record)). The hash decides where the server says nothing.
 */
#ifndef PATRA_ENGINE_FETCH_BULK_FILE_H
#define PATRA_ENGINE_FETCH_BULK_FILE_H

#include "data/hash.h"
#include "data/http_message.h"

enum { BULK_TAG_MAX = 256 };

struct bulk_place {
    int64_t records;
    int64_t bytes;
    struct hash_sum sum;
};

struct bulk_file {
    char etag[BULK_TAG_MAX]; /* as received; "": none */
    char modified[BULK_TAG_MAX];
    bool has_length;
    int64_t length; /* as transferred */
    bool is_packed; /* a place in it is not one in what is transferred */
};

/* False: the text does not fit, or is not one line. */
bool bulk_file_keep(char kept[BULK_TAG_MAX], struct str text) MUST_CHECK;

/* What a 200 says about its file. */
struct bulk_file bulk_file_of(const struct http_response *reply);

/* True where both say something and it differs. */
bool bulk_file_differs(const struct bulk_file *a, const struct bulk_file *b);

/* What a request for the rest of the file says in If-Range; "" where nothing is certain enough. */
struct str bulk_file_validator(const struct bulk_file *file);

/* Whether a 206 is the rest of that file from this byte on, and where that ends. */
bool bulk_range_fits(const struct http_response *reply, const struct bulk_file *file, int64_t from,
                     int64_t *end);

/* The place after one more record. */
bool bulk_place_add(struct bulk_place *place, struct hash *hash, struct str record,
                    struct error *err) MUST_CHECK;

#endif
