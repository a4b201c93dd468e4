/* http_fault: the ways a request can fail, each with its stable code and its level.
 *
 * The one table for the port's promise (port/http.h): adapters name a code, the level comes from
 * here, and docs/http.md has the same rows for operators.
 */
#ifndef PATRA_DATA_HTTP_FAULT_H
#define PATRA_DATA_HTTP_FAULT_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

struct http_fault {
    const char *code;
    enum error_level level;
    const char *meaning;
};

extern const struct http_fault http_faults[];
extern const size_t http_faults_count;

/* NULL when there is no fault of this code. */
const struct http_fault *http_fault_find(const char *code);

/* True for faults of a body whose status and headers were received: the response is still usable
 * when its status is not 2xx. */
bool http_fault_spares_status(const char *code);

/* True for "http.cancelled": the request was given up because the program must stop. */
bool http_error_is_cancelled(const struct error *err);

/* True where the request was sent, and given up because its response took too long. */
bool http_error_is_late(const struct error *err);

/* True where a request for less may succeed: the body is larger than a limit, as it was sent or
 * unpacked, or the response does not fit into its arena. */
bool http_error_is_oversized(const struct error *err);

#endif
