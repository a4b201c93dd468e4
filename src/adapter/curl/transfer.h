/* transfer: one request of a handle, from its check to its response.
 *
 *      begin ─ (library: connect, send, receive) ─ end ─┬─ settled: ok or not
 *        ▲                                              │
 *        ╰──────────── a redirect that is followed ─────╯
 *
 * The driver of the handle's multi calls these, one thread at a time. A transfer is reused: it
 * keeps its easy handle, its scratch memory and its buffer.
 */
#ifndef PATRA_ADAPTER_CURL_TRANSFER_H
#define PATRA_ADAPTER_CURL_TRANSFER_H

#include <curl/curl.h>

#include "adapter/curl/gunzip.h"
#include "data/http_head.h"
#include "port/http.h"

struct transfer {
    struct http_ticket ticket; /* first: what the caller holds */

    struct arena *arena;         /* the caller's: holds all of the response */
    struct arena scratch;        /* the request's copy, secrets included: wiped at the end */
    struct http_request request; /* as given, with defaults filled in */
    struct http_request hop;     /* as it is sent now */
    const char *user_agent;
    int followed;
    int64_t begun_us;   /* monotonic */
    int64_t sent_bytes; /* of the body */
    int64_t moved_us;   /* when a byte was last seen to move in either direction */
    bool has_begun;     /* the request was sent */
    bool has_moved;     /* since moved_us was last set */

    CURL *easy;
    struct { /* the value last set on the easy handle */
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
        bool is_placed; /* its place was chosen */
        bool is_direct; /* data is in the arena, exactly as long as announced */
        bool is_coded;
    } body;
    struct {
        bool is_on;      /* the body of a 2xx is kept here until it is read */
        bool is_flowing; /* the head of a 2xx was received */
        bool is_paused;  /* the library holds bytes for which there was no room */
        char *bytes;
        size_t at; /* what was read of them */
        size_t len;
        int64_t received;
        struct gunzip gunzip;
    } stream;
    char *buffer; /* for bodies of unknown size; kept for the next one */
    size_t buffer_room;

    bool is_settled;
    bool ok;
    struct http_response reply;
    struct error err; /* where it is not ok; also what a callback found */
};

bool transfer_open(struct transfer *transfer, struct http *http, struct error *err) MUST_CHECK;
void transfer_close(struct transfer *transfer); /* accepts the zero value */

/* Checks and copies the request; touches no network. */
bool transfer_prepare(struct transfer *transfer, struct arena *arena,
                      const struct http_request *request, struct error *err) MUST_CHECK;

/* Prepares the easy handle for a multi. False: the transfer is already settled. */
bool transfer_begin(struct transfer *transfer, int64_t now_us);

/* After the library is done and it was removed from the multi. True: it is to be added again;
 * false: it is settled. */
bool transfer_end(struct transfer *transfer, CURLcode result, int64_t now_us);

/* The body of a 2xx will be read piece by piece; until stop, which accepts any transfer. */
bool transfer_start_stream(struct transfer *transfer, struct error *err) MUST_CHECK;
void transfer_stop_stream(struct transfer *transfer);

/* Of a stream whose head was received: everything but the body. */
bool transfer_head(struct transfer *transfer, int64_t now_us, struct http_response *reply,
                   struct error *err) MUST_CHECK;

/* The bytes of a stream that are there, unpacked. *len 0: more must be received first; *is_end:
 * that was all. */
bool transfer_take(struct transfer *transfer, struct http_room room, size_t *len, bool *is_end,
                   struct error *err) MUST_CHECK;

/* When it must be given up unless bytes move. */
int64_t transfer_deadline_us(struct transfer *transfer, int64_t now_us);
/* Before it is taken from the multi: nobody uses its connection again, once the streams beside it
 * have ended. A server that says nothing to one stream may be gone for all. */
void transfer_mistrust(struct transfer *transfer);
/* Settles it: its deadline has passed, or it was cancelled ("http.cancelled"). */
void transfer_expire(struct transfer *transfer, int64_t now_us);
void transfer_abort(struct transfer *transfer, const char *code, int64_t now_us);

/* Overwrites the request. The response stays. */
void transfer_wipe(struct transfer *transfer);

/* setup.c: sets all options of the library for transfer->hop. */
bool transfer_setup(struct transfer *transfer, struct error *err) MUST_CHECK;
void transfer_forget_way(struct transfer *transfer);
/* For setup.c: what the library calls. */
size_t transfer_on_header(char *bytes, size_t size, size_t count, void *context);
size_t transfer_on_body(char *bytes, size_t size, size_t count, void *context);
int transfer_on_connected(void *context, char *remote_ip, char *local_ip, int remote_port,
                          int local_port);
int transfer_on_progress(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                         curl_off_t up);

int64_t transfer_clock_us(void); /* CLOCK_MONOTONIC */

#endif
