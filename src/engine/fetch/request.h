/* request: the HTTP request for a page state of a slice, made from a spec.
 *
 *      request_form_open()   once per endpoint and walk: what does not change
 *      request_render()      for each attempt: URL, headers, body, and the digest of them
 *      arena_wipe(scratch)   once the http port has the request, or its response
 *
 * Secrets. auth is only described (port/http_auth.h): the http port gets the credential when it
 * sends the request. Templates may also name the credential themselves, and parameters may refer to
 * an environment variable or a file. These are read here, for this one request, and overwritten by
 * the wipe of scratch. The http port gets their names, so that it keeps them out of error texts
 * and from other hosts. The digest has *** in their place: it is rendered a second time, redacted,
 * not cut out of the first text.
 *
 * The digest is the request's part of a batch row (JSON):
 *
 *      {"method":"GET","urlTemplate":"https://api.crossref.org/works",
 *       "query":{"cursor":"*","mailto":"***","rows":"500"},
 *       "headers":["Accept: application/json"],"bodyHash":"sha256:..."}
 *
 * with "url" instead of "query" for a URL that the source gave, and with the "path" as it was sent
 * where it is a template. bodyHash is of the redacted body, so that equal requests have equal
 * digests with any key.
 *
 * Variables of templates: window.* is the query's window of the slice (TIME: what is left of it),
 * and window.last is one step of the source's granularity before its end; of a feed they are the id
 * or token that the walk continues from; page.* is the state;
 * ids.* the ids of one request for details; history.* what phase one captured.
 */
#ifndef PATRA_ENGINE_FETCH_REQUEST_H
#define PATRA_ENGINE_FETCH_REQUEST_H

#include "core/slice.h"
#include "data/http_message.h"
#include "engine/fetch/listing.h"
#include "engine/fetch/page.h"
#include "port/http.h"
#include "port/http_auth.h"
#include "port/secret.h"
#include "spec/spec.h"

/* Common servers refuse longer URLs (nginx: 8 kB for the whole request line). */
enum { REQUEST_GET_URL_MAX = 8000 };
/* Of a rendered parameter or body: enough for ten thousand ids of a hundred bytes. */
enum { REQUEST_BYTES_MAX = 1 << 20 };

/* ---- what does not change ---- */

struct request_form {
    const struct spec *spec;
    const struct spec_endpoint *endpoint;
    struct json_doc body;       /* of endpoint->json */
    struct template *templates; /* of the body's texts, in the order of the document */
    size_t template_count;
    bool uses_ids;
    bool uses_history;
    bool uses_sync_token; /* ${window.token} */
    bool uses_credential; /* in templates: the http port adds none */
    const struct str *secret_names;
    size_t secret_count;
};

/* The spec must outlive the form. Error: "request.body" (L4: the body is not JSON, or its texts are
 * not templates), which a checked source does not have. */
bool request_form_open(struct request_form *form, struct arena *arena, const struct spec *spec,
                       const struct spec_endpoint *endpoint, struct error *err) MUST_CHECK;

/* True for parameters and headers whose values must not be shown. */
bool request_is_secret_name(const struct request_form *form, struct str name);

/* The source's next URL without the secrets that it may repeat. They are added again when it is
 * requested. */
bool request_clean_url(const struct request_form *form, struct arena *arena, struct str url,
                       struct str *clean, struct error *err) MUST_CHECK;

/* ---- one request ---- */

/* The window of a slice as requests have it. */
static inline struct window request_window(const struct slice *slice)
{
    return slice->dimension == SLICE_TIME ? slice->query.window : slice->window;
}

struct request_input {
    const struct request_form *form;
    const struct spec_endpoint *access; /* whose credential is sent; NULL: that of the form */
    struct secret_source *secrets;
    const struct slice *slice;
    struct str plan_id;
    const struct page_state *state;
    struct window window; /* not valid: none */
    bool has_since;       /* of a feed: ${window.since} */
    int64_t since_us;
    struct str after; /* of a feed: ${window.after}, ${window.token}; data NULL: none */
    const struct str *ids;
    size_t id_count;
    const struct listing_value *history;
    size_t history_count;
    struct str correlation_id;
    struct str traceparent;
    struct str tracestate;
    int64_t now_us;
};

struct request {
    struct http_request http; /* in scratch */
    struct http_auth auth;    /* http.auth points to it: do not move the request */
    struct str digest;        /* in the arena; no secrets */
};

/* Errors: those of templates (L2), with the parameter; "request.param" (L4: a required parameter of
 * the installation has no value); "request.required" (L2: a required value of the request has
 * none); secret.* (L4). */
struct request_memory {
    struct arena *scratch; /* holds secrets afterwards, on failure too */
    struct arena *arena;
};
bool request_render(struct request *request, struct request_memory memory,
                    const struct request_input *input, struct error *err) MUST_CHECK;

/* The same request for people: *** for every secret, and without the credential. */
struct request_shown {
    struct str method;
    struct str url;
    const struct http_header *headers;
    size_t header_count;
    struct str body;
};
bool request_show(struct request_shown *shown, struct arena *arena,
                  const struct request_input *input, struct error *err) MUST_CHECK;

/* ---- secrets in texts ---- */

/* Responses may repeat the secrets of a request: NCBI responds to one request too many with
 * {"error":"...","api-key":"THE KEY"}. So what is kept of a response (an error's text, the
 * beginning of a body) is masked first. Taken out are
 *
 *      what the endpoint's credential and the source's parameters refer to (env:, file:), and the
 *      tokens that the http port got for it, however they are written (data/redact.h)
 *      the word after "Bearer " or "Basic "
 *      with OAuth2, any long word: a token that another process was shown
 *      e-mail addresses and phone numbers, but for their ends (base/mask.h)
 */
enum { REQUEST_MASK_WORD_MIN = 20 };

struct request_mask {
    const struct request_form *form;
    struct secret_source *secrets;
    struct http *http; /* that sent the request; NULL: none was sent */
};

/* Only the first of these: what the source's settings refer to. For whole responses, whose own
 * words must stay as they are. In place; returns the new length. */
size_t request_mask_secrets(const struct request_mask *mask, char *text, size_t len);

/* Masks in place; the text gets no longer. Returns its new length. */
size_t request_mask_text(const struct request_mask *mask, char *text, size_t len);

#endif
