/* mask: takes secrets out of a text that a source had a part in.
 *
 * Requests are told with *** in place of their secrets, but answers may repeat them: NCBI answers a
 * request too many with {"error":"...","api-key":"THE KEY"}. So what is kept of an answer (an
 * error's text, the beginning of a body) passes here first. Taken out are
 *
 *      what the endpoint's credential and the source's parameters refer to (env:, file:), as it is,
 *      percent-encoded or escaped (base/quote.h), also where the text was cut in the middle of it
 *      what stands behind "Bearer " or "Basic "
 *      with OAuth2, whose tokens only the http port knows, any long word
 *
 * Values shorter than MASK_BYTES_MIN stay: they are no secrets, and would be found everywhere.
 */
#ifndef PATRA_ENGINE_FETCH_MASK_H
#define PATRA_ENGINE_FETCH_MASK_H

#include "engine/fetch/request.h"

enum { MASK_BYTES_MIN = 4, MASK_WORD_MIN = 20 };

struct mask {
    const struct request_form *form;
    struct secret_source *secrets;
};

/* In place; the text gets no longer. Returns its length. */
size_t mask_text(const struct mask *mask, char *text, size_t len);

#endif
