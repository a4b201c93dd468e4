/* echo_blob: two paths that belong to no API, for testing clients, faults and speed.
 *
 *      /echo           the request as JSON: method, path, query, virtual time, content fault, size
 *      /blob?bytes=N   N bytes (at most BLOB_BYTES_MAX), always the same, sent without a copy
 */
#ifndef PATRA_SIM_SERVER_ECHO_BLOB_H
#define PATRA_SIM_SERVER_ECHO_BLOB_H

#include "sim/http/call.h"

enum { BLOB_BYTES_MAX = 4 << 20 };

struct echo_blob {
    char *blob;
};

bool echo_blob_open(struct echo_blob *echo, struct error *err) MUST_CHECK;
void echo_blob_close(struct echo_blob *echo);
bool echo_blob_owns(struct str path);
bool echo_blob_respond(const struct echo_blob *echo, struct http_call *call,
                       struct error *err) MUST_CHECK;

#endif
