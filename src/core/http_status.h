/* http_status: the error level of an HTTP status.
 *
 *      2xx, 304               no error          429, 5xx       L1, try again later
 *      401, 407               L4, credentials   other 4xx      L2, the request is wrong
 *      3xx, 1xx, no status    L2, not the expected response (redirects are off)
 *
 * A source may declare more statuses as transient (408, 409, 423 are the usual ones). The
 * rules of the source judge the body later, such as a 200 with an error inside.
 */
#ifndef PATRA_CORE_HTTP_STATUS_H
#define PATRA_CORE_HTTP_STATUS_H

#include <stddef.h>

#include "base/error.h"

/* `transient` lists the statuses that the source declares transient. */
enum error_level http_status_level(int status, const int *transient, size_t count);

#endif
