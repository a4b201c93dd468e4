/* status: the reason phrases of HTTP. */
#ifndef PATRA_SIM_HTTP_STATUS_H
#define PATRA_SIM_HTTP_STATUS_H

const char *status_reason(int code); /* "Unknown" for unregistered codes */

#endif
