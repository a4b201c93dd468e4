/* provider_text: what a source itself says is wrong, for the text of an error.
 *
 * It is looked for where a rule found it (a path, a header), then in the members that JSON errors
 * usually have, then at the beginning of the body:
 *
 *      {"error":{"code":400,"message":"Invalid filter"}}       "Invalid filter"
 *      {"errors":[{"title":"Bad request","detail":"..."}]}     the detail of the first
 *      {"status":"failed","message":[{"message":"..."}]}       the first of them
 *
 * The text is quoted: controls escaped, and cut after PROVIDER_TEXT_BYTES. It may repeat secrets
 * and personal data: the caller masks it (request.h).
 */
#ifndef PATRA_ENGINE_FETCH_PROVIDER_TEXT_H
#define PATRA_ENGINE_FETCH_PROVIDER_TEXT_H

#include "engine/fetch/document.h"

enum { PROVIDER_TEXT_BYTES = 300 };

struct provider_text_place {
    const struct document *document;  /* NULL: the body could not be read */
    const struct document_path *path; /* NULL, or where a rule found the error */
    struct str header;                /* of a rule for headers */
    struct str body;
};

/* "\"Invalid filter\""; data NULL: the arena is full. */
struct str provider_text(const struct provider_text_place *place, struct arena *arena);

#endif
