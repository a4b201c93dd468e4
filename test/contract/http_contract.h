/* http_contract: the suite of promises in port/http.h, run over every adapter.
 *
 * http_cases.c knows only the port; a http_fixture_*.c file, linked into each program, makes the
 * server at the other end: a real one for curl, a script for scripted_http. What only a real
 * network can show is in http_wire.c, http_sim.c and http_tls.c, for curl only.
 */
#ifndef PATRA_TEST_HTTP_CONTRACT_H
#define PATRA_TEST_HTTP_CONTRACT_H

#include "port/http.h"
#include "test.h"

enum contract_body {
    BODY_WHOLE,
    BODY_NONE_RESET, /* the connection is reset instead of an answer */
    BODY_SHORT,      /* less than was announced */
};

struct contract_reply {
    int status;
    const struct http_header *headers;
    size_t header_count;
    struct str body;
    enum contract_body end;
};

/* A handle to a server with an empty script. One at a time; http_contract_end() ends both. */
struct http *http_contract_begin(void);
void http_contract_end(void);

/* What the server answers to the next request that has no answer yet. */
void http_contract_reply(const struct contract_reply *reply);

/* "http://..." + path, alive until http_contract_end(). */
struct str http_contract_url(const char *path);

/* How many requests came to the server, and whether the n-th (from 0) has this text in it:
 * "POST /path", or "Name: value". */
size_t http_contract_sent(void);
bool http_contract_sent_has(size_t index, const char *text);

/* An arena for replies, ended with http_contract_end(). */
struct arena *http_contract_arena(void);

/* Sends, plain HTTP allowed. The error's code, "" when there is none; the error and the reply stay
 * until the next call. */
const char *http_contract_try(const struct http_request *request);
extern struct http_response contract_reply;
extern struct error contract_err;

#endif
