/* http_head: status line and headers of a response, line by line as they are received.
 *
 *      http_head_init(&head, arena, &request.limits);
 *      for each line, with or without its line end: http_head_add(&head, line, err)
 *
 * A second status line starts over: the head before was informational (100, 103). What follows the
 * empty line of the final head is a trailer and is ignored: it must not change what the head
 * decided. Lines that are not headers are ignored, a folded line continues its header. Everything
 * counts against the limits.
 */
#ifndef PATRA_DATA_HTTP_HEAD_H
#define PATRA_DATA_HTTP_HEAD_H

#include "data/http_message.h"

struct http_head {
    int status; /* 0 before the first status line */
    int version;
    struct http_headers headers;
    bool is_complete; /* the empty line was received */

    /* private */
    struct arena *arena;
    int64_t bytes;
    int64_t bytes_max;
    size_t lines;
    size_t headers_max;
};

void http_head_init(struct http_head *head, struct arena *arena, const struct http_limits *limits);

/* "http.header_limit" (L2), "http.protocol" (L1: an invalid status line; of a 2xx, a Content-Length
 * that is not a number, or two that differ), "memory.limit". */
bool http_head_add(struct http_head *head, struct str line, struct error *err) MUST_CHECK;

#endif
