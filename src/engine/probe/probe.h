/* probe: one request of a source, looked at from all sides before the source runs.
 *
 *      probe_open()    the request as it would go out, its secrets cut
 *      probe_send()    sends it, once: no second attempt, no second look
 *      probe_read()    reads an answer that came, or that somebody saved
 *      probe_warn()    what a person should know although nothing is wrong
 *
 * Nothing is stored, and no gate is asked: that is the caller's part, before probe_send().
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
    const struct xml *xml; /* NULL: loaded when the source answers in XML */
    int64_t now_us;
};

struct probe_warnings {
    struct str *items;
    size_t count;
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

    struct http_reply reply;
    struct response response;
    struct listing listing; /* only after probe_read() has said true */
    struct page_decision
        decision; /* likewise; where a walk would ask again, what it would then do */
    struct probe_warnings warnings;
};

/* Errors of request.h and reader.h. Close it in any case. */
bool probe_open(struct probe *probe, struct arena *arena, const struct probe_input *input,
                struct error *err) MUST_CHECK;

/* Puts the request on the wire; reply is what came. Errors of port/http.h. */
bool probe_send(struct probe *probe, struct http *http, struct error *err) MUST_CHECK;

/* `reply` may be probe's own. Errors of answer.h and listing.h; probe->answer.kind tells the rest.
 */
bool probe_read(struct probe *probe, const struct http_reply *reply, struct error *err) MUST_CHECK;

/* After probe_read() has said true: fills probe->warnings, a sentence each. */
bool probe_warn(struct probe *probe, struct error *err) MUST_CHECK;

void probe_close(struct probe *probe); /* accepts the zero value */

#endif
