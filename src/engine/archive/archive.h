/* archive: full responses, kept so that they can be replayed and read again without a request.
 *
 *      archive_make()    a response → bytes without secrets → hash, packed; the commit of its batch
 *                        writes it (port/store_archive.h)
 *      archive_read()    a hash → the response
 *      archive_tend()    now and then: a dictionary for an endpoint that has none; what is too old
 *                        or too much is removed
 *
 * The bytes are the response as curl -i would show it (data/saved_response.h): the status, the
 * headers that are read (the content type, links, those that the source names), the body. Only
 * secrets that the source echoes are taken out (redact_body; not OAuth2 tokens); records stay as
 * they are. A head with "patra-masked" says that something was: such a response can be shown, but
 * is not read again for records.
 */
#ifndef PATRA_ENGINE_ARCHIVE_ARCHIVE_H
#define PATRA_ENGINE_ARCHIVE_ARCHIVE_H

#include "engine/fetch/request.h"
#include "port/body_packer.h"
#include "port/store_archive.h"

#define ARCHIVE_MASKED_HEADER STR("patra-masked")

/* Bodies that a dictionary is made of; it is tried when there are so many. */
enum { ARCHIVE_SAMPLES = 64, ARCHIVE_SAMPLES_MIN = 16 };

struct archive {
    struct body_packer *packer;
    struct store *store;
    struct arena memory; /* the dictionary */
    struct body_dictionary dictionary;
    struct str source; /* whose it is, in memory */
    struct str endpoint;
    bool is_loaded;
    int64_t tended_us;
};

/* Takes the packer over. */
void archive_init(struct archive *archive, struct body_packer *packer, struct store *store);
void archive_release(struct archive *archive); /* accepts the zero value */

struct archive_input {
    const struct request_form *form; /* source, endpoint, and how secrets are found */
    struct secret_source *secrets;
    const struct http_response *reply;
    int64_t now_us;
};
bool archive_make(struct archive *archive, struct arena *arena, const struct archive_input *input,
                  struct archived_body *body, struct error *err) MUST_CHECK;

/* *found is false for one that was pruned. "archive.broken" (L4) where its bytes are not those of
 * its hash. */
bool archive_read(struct archive *archive, struct arena *arena, struct str hash,
                  struct http_response *reply, bool *found, struct error *err) MUST_CHECK;

/* At most once a minute; without a transaction. */
bool archive_tend(struct archive *archive, const struct spec *spec, int64_t now_us,
                  struct error *err) MUST_CHECK;

#endif
