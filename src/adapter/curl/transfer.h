/* transfer: one request of a handle, from its check to its reply.
 *
 *      begin ─ (library: connect, send, receive) ─ end ─┬─ settled: ok or not
 *        ▲                                              │
 *        ╰──────────── a redirect that is followed ─────╯
 *
 * Whoever drives the handle's multi calls these, one thread at a time. A transfer is used again and
 * again: its easy handle, its scratch memory and its buffer stay.
 */
#ifndef PATRA_ADAPTER_CURL_TRANSFER_H
#define PATRA_ADAPTER_CURL_TRANSFER_H

#include <curl/curl.h>

#include "data/http_head.h"
#include "port/http.h"

struct transfer {
    struct http_ticket ticket; /* first: what the caller holds */

    struct arena *arena;         /* the caller's: all of the reply */
    struct arena scratch;        /* the request's copy, secrets included: wiped at the end */
    struct http_request request; /* as asked for, with its defaults */
    struct http_request hop;     /* as it goes out now */
    const char *user_agent;
    int followed;
    int64_t begun_us;   /* monotonic */
    int64_t sent_bytes; /* of the body */
    int64_t moved_us;   /* when a byte was last seen to have gone either way */
    bool has_begun;     /* the request was put on the wire */
    bool has_moved;     /* since moved_us was last set */

    CURL *easy;
    struct { /* what the easy handle was last told of it */
        bool is_set;
        bool allow_plain_http;
        char *proxy;
        char *ca_file;
    } way;
    struct curl_slist *lines; /* of the request's headers */
    char text[CURL_ERROR_SIZE];
    struct http_head head;
    struct {
        char *data;
        size_t len;
        size_t room;
        size_t max;
        bool is_placed; /* it was decided where it goes */
        bool is_direct; /* data lies in the arena, exactly as long as announced */
        bool is_coded;
    } body;
    char *buffer; /* for bodies whose final size is not known; kept */
    size_t buffer_room;

    bool is_settled;
    bool ok;
    struct http_reply reply;
    struct error err; /* when it is not ok; also what a callback found wrong */
};

bool transfer_open(struct transfer *transfer, struct http *http, struct error *err) MUST_CHECK;
void transfer_close(struct transfer *transfer); /* accepts the zero value */

/* Checks and copies the request; touches no network. */
bool transfer_prepare(struct transfer *transfer, struct arena *arena,
                      const struct http_request *request, struct error *err) MUST_CHECK;

/* Makes the easy handle ready to be added to a multi; false: it is settled already. */
bool transfer_begin(struct transfer *transfer, int64_t now_us);

/* The library is done with it, and it was removed from the multi. False when it is settled, true
 * when it is to be added again. */
bool transfer_end(struct transfer *transfer, CURLcode result, int64_t now_us);

/* When it has to be given up, unless something moves. */
int64_t transfer_deadline_us(struct transfer *transfer, int64_t now_us);
/* Settles it: its deadline has come, or (with "http.cancelled") somebody wants it to end. */
void transfer_expire(struct transfer *transfer, int64_t now_us);
void transfer_abort(struct transfer *transfer, const char *code, int64_t now_us);

/* Overwrites the request. The reply stays. */
void transfer_wipe(struct transfer *transfer);

/* setup.c: everything the library must be told about transfer->hop. */
bool transfer_setup(struct transfer *transfer, struct error *err) MUST_CHECK;
void transfer_forget_way(struct transfer *transfer);
/* callbacks.c */
size_t transfer_on_header(char *bytes, size_t size, size_t count, void *context);
size_t transfer_on_body(char *bytes, size_t size, size_t count, void *context);
int transfer_on_connected(void *context, char *remote_ip, char *local_ip, int remote_port,
                          int local_port);
int transfer_on_progress(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                         curl_off_t up);

int64_t transfer_clock_us(void); /* CLOCK_MONOTONIC */

#endif
