/* probe: one request of a source and its response, examined before the source runs.
 *
 *      probe_open()    the request as it would be sent, without its secrets
 *      probe_send()    sends it once, without retries
 *      probe_read()    reads the response, or one that was saved
 *      probe_warn()    what people should know although nothing is wrong
 *
 * Nothing is stored, and no permit is acquired: that is for the caller to do before probe_send().
 */
#ifndef PATRA_ENGINE_PROBE_PROBE_H
#define PATRA_ENGINE_PROBE_PROBE_H

#include "engine/fetch/listing.h"
#include "engine/fetch/request.h"
#include "port/http.h"

struct xml;

struct probe_input { /* all must outlive the probe */
    const struct spec *spec;
    const struct slice *slice;
    const struct str *ids; /* of an operation by id */
    size_t id_count;
    struct secret_source *secrets;
    const struct xml *xml; /* NULL: loaded for a source that responds in XML */
    int64_t now_us;
};

struct probe_warnings {
    struct str *items;
    size_t count;
};

/* Of the records of the page that are not deleted, bad ones included. */
struct probe_field {
    const struct spec_field *field;
    size_t records; /* that have it */
    size_t misfits; /* ... with a value that does not fit its type */
    size_t several; /* ... with several values, of which the first counts */
};

struct probe_fields {
    struct probe_field *items;
    size_t count;
    size_t records;
};

struct probe {
    struct probe_input input;
    struct arena *arena;
    const struct spec_endpoint *endpoint;
    struct reader reader;
    struct request_form form;
    struct page_rules rules;
    struct page_state state;
    struct request_shown shown;
    bool lists_ids; /* phase one of two: items are ids, and there are no records */

    struct http_response reply;
    struct response response;
    struct listing listing; /* these two only after probe_read() returned true */
    struct page_decision
        decision;               /* where a walk would repeat the request: what it would do then */
    struct probe_fields fields; /* and this one; empty where the page lists ids */
    struct probe_warnings warnings;
};

/* Errors: those of request.h and reader.h. Close it in any case. */
bool probe_open(struct probe *probe, struct arena *arena, const struct probe_input *input,
                struct error *err) MUST_CHECK;

/* Sends the request; the response is in probe->reply. Errors: those of port/http.h. */
bool probe_send(struct probe *probe, struct http *http, struct error *err) MUST_CHECK;

/* reply may be probe->reply. Errors: those of response.h and listing.h, with probe->response.kind.
 */
bool probe_read(struct probe *probe, const struct http_response *reply,
                struct error *err) MUST_CHECK;

/* After probe_read() returned true: fills probe->warnings, a sentence each. */
bool probe_warn(struct probe *probe, struct error *err) MUST_CHECK;

/* Fills probe->fields; probe_read() does this. */
bool probe_count_fields(struct probe *probe, struct error *err) MUST_CHECK;

void probe_close(struct probe *probe); /* accepts the zero value */

#endif
