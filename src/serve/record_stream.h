/* record_stream: the records of a source as JSON lines, however many, in constant memory.
 *
 *      {"id":"10.1000/182","endpoint":"works","version":3,...,"fields":{...}}
 *
 * The walk is one of pages by key (port/store_record_read.h): it misses no record that was there
 * when it began, and holds nothing open between two pages. A page is read when the client has taken
 * the one before, so a slow client costs nothing but its connection.
 */
#ifndef PATRA_SERVE_RECORD_STREAM_H
#define PATRA_SERVE_RECORD_STREAM_H

#include "port/store_record_read.h"
#include "serve/call.h"

/* Sets the response's stream. */
bool record_stream_open(struct call *call, const struct record_walk *walk, bool with_fields,
                        struct error *err) MUST_CHECK;

#endif
