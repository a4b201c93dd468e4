/* /echo and /blob. */
#include "sim/server/echo_blob.h"
#include "sim/util/text_out.h"

#include <stdlib.h>

bool echo_blob_open(struct echo_blob *echo, struct error *err)
{
    echo->blob = malloc(BLOB_BYTES_MAX);
    if (echo->blob == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for the blob");
    for (size_t i = 0; i < BLOB_BYTES_MAX; i++)
        echo->blob[i] = (char)('a' + i % 26);
    return true;
}

void echo_blob_close(struct echo_blob *echo)
{
    free(echo->blob);
    echo->blob = NULL;
}

bool echo_blob_owns(struct str path)
{
    return str_eq(path, STR("/blob")) || str_eq(path, STR("/echo")) ||
           str_starts(path, STR("/echo/"));
}

static bool respond_blob(const struct echo_blob *echo, struct http_call *call, struct error *err)
{
    int64_t bytes;

    if (!str_to_i64(call_param(call, STR("bytes")), &bytes) || bytes < 0 || bytes > BLOB_BYTES_MAX)
        return error_set(err, ERROR_REQUEST, "blob.bytes", "bytes=0..%d", BLOB_BYTES_MAX);
    call->content_type = STR("application/octet-stream");
    call->fixed = (struct str){ echo->blob, (size_t)bytes };
    return true;
}

bool echo_blob_respond(const struct echo_blob *echo, struct http_call *call, struct error *err)
{
    struct buf *response = &call->response;

    call->page = PAGE_BY_REQUEST;
    if (str_eq(call->path, STR("/blob")))
        return respond_blob(echo, call, err);
    call->content_type = STR("application/json; charset=utf-8");
    buf_add(response, STR("{\"method\":"));
    text_add_json_string(response, call->method);
    buf_add(response, STR(",\"path\":"));
    text_add_json_string(response, call->path);
    buf_add(response, STR(",\"query\":"));
    text_add_json_string(response, call->query);
    buf_printf(response, ",\"now_us\":%lld,\"content_fault\":%d,\"body_bytes\":%zu",
               (long long)call->now_us, call->content_fault, call->body.len);
    buf_add(response, STR(",\"text\":\"Caf\xC3\xA9, \xE6\x96\x87\xE7\x8C\xAE\"}\n"));
    return true;
}
