/* echo: two paths that belong to no literature API, for testing clients, faults and speed.
 *
 *      /echo           the request as JSON: method, path, query, virtual time, twist, body's length
 *      /blob?bytes=N   N bytes (at most BLOB_BYTES_MAX) that are always the same and never copied
 */
#ifndef PATRA_SIM_SERVER_ECHO_BLOB_H
#define PATRA_SIM_SERVER_ECHO_BLOB_H

#include "sim/http/call.h"

enum { BLOB_BYTES_MAX = 4 << 20 };

struct echo {
    char *blob;
};

bool echo_open(struct echo *echo, struct error *err) MUST_CHECK;
void echo_close(struct echo *echo);
bool echo_owns(struct str path);
bool echo_answer(const struct echo *echo, struct exchange *exchange, struct error *err) MUST_CHECK;

#endif
