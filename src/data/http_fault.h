/* http_fault: the ways a request can fail, each with its stable code and its level.
 *
 * The one table behind the port's promise (port/http.h): adapters name a code, the level comes from
 * here, and docs/http.md tells the same rows to operators.
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

/* NULL when there is none of this code. */
const struct http_fault *http_fault_find(const char *code);

/* True for what can befall a body whose status and headers have already come: the reply is then
 * still of use when its status is not 2xx. */
bool http_fault_spares_status(const char *code);

#endif
