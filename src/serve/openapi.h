/* openapi: the description of the API (OpenAPI 3.1), made of the table of routes. */
#ifndef PATRA_SERVE_OPENAPI_H
#define PATRA_SERVE_OPENAPI_H

#include "data/json_write.h"

void openapi_write(struct json_writer *w);

#endif
