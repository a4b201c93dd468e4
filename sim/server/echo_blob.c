#include "sim/server/echo_blob.h"

#include <stdlib.h>

#include "sim/util/json_out.h"

bool echo_open(struct echo *echo, struct error *err)
{
    echo->blob = malloc(BLOB_BYTES_MAX);
    if (echo->blob == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for the blob");
    for (size_t i = 0; i < BLOB_BYTES_MAX; i++)
        echo->blob[i] = (char)('a' + i % 26);
    return true;
}

void echo_close(struct echo *echo)
{
    free(echo->blob);
    echo->blob = NULL;
}

bool echo_owns(struct str path)
{
    return str_eq(path, STR("/blob")) || str_eq(path, STR("/echo")) ||
           str_starts(path, STR("/echo/"));
}

static bool answer_blob(const struct echo *echo, struct exchange *exchange, struct error *err)
{
    int64_t bytes;

    if (!str_to_i64(exchange_param(exchange, STR("bytes")), &bytes) || bytes < 0 ||
        bytes > BLOB_BYTES_MAX)
        return error_set(err, ERROR_REQUEST, "blob.bytes", "bytes=0..%d", BLOB_BYTES_MAX);
    exchange->content_type = STR("application/octet-stream");
    exchange->fixed = (struct str){ echo->blob, (size_t)bytes };
    return true;
}

bool echo_answer(const struct echo *echo, struct exchange *exchange, struct error *err)
{
    struct buf *reply = &exchange->reply;

    exchange->page = PAGE_BY_REQUEST;
    if (str_eq(exchange->path, STR("/blob")))
        return answer_blob(echo, exchange, err);
    exchange->content_type = STR("application/json; charset=utf-8");
    buf_add(reply, STR("{\"method\":"));
    json_add_string(reply, exchange->method);
    buf_add(reply, STR(",\"path\":"));
    json_add_string(reply, exchange->path);
    buf_add(reply, STR(",\"query\":"));
    json_add_string(reply, exchange->query);
    buf_printf(reply, ",\"now_us\":%lld,\"twist\":%d,\"body_bytes\":%zu",
               (long long)exchange->now_us, exchange->twist, exchange->body.len);
    buf_add(reply, STR(",\"text\":\"Caf\xC3\xA9, \xE6\x96\x87\xE7\x8C\xAE\"}\n"));
    return true;
}
