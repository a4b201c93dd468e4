/* errors: HTTP statuses to error levels. */
#include "core/http_status.h"

enum error_level http_status_level(int status, const int *transient, size_t count)
{
    if ((status >= 200 && status < 300) || status == 304)
        return ERROR_NONE;
    for (size_t i = 0; i < count; i++) {
        if (transient[i] == status)
            return ERROR_TRANSIENT;
    }
    if (status == 429 || (status >= 500 && status < 600))
        return ERROR_TRANSIENT;
    if (status == 401 || status == 407)
        return ERROR_FATAL;
    return ERROR_REQUEST;
}
