/* probe: one request of a source and its response, examined before the source runs.
 *
 *      probe_open()    the request as it would be sent, without its secrets
 *      probe_send()    sends it once, without retries
 *      probe_read()    reads the response, or one that was saved
 *      probe_turn()    turns to the next page, for another probe_send()
 *      probe_warn()    what people should know although nothing is wrong
 *      probe_warn_paths()   the same about all pages that were read
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

/* A path that records should have, and how many of them do. */
struct probe_path {
    struct str name; /* fields.title */
    struct str text;
    const struct document_path *path;
    size_t found;
};

struct probe_paths {
    struct probe_path *items;
    size_t count;
    size_t records; /* that were looked at */
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
    struct http *http; /* that sent the latest request; NULL: none was sent */
    struct reader reader;
    struct request_form form;
    struct page_rules rules;
    struct page_state state;
    struct request_shown shown;
    bool lists_ids; /* phase one of two: items are ids, and there are no records */

    struct http_response reply;
    bool is_sample; /* of a file: the reply's body is its beginning */
    struct response response;
    struct listing listing; /* these two only after probe_read() returned true */
    struct page_decision
        decision;               /* where a walk would repeat the request: what it would do then */
    struct probe_fields fields; /* and this one; empty where the page lists ids */
    struct probe_warnings warnings;

    size_t turned;    /* pages before this one */
    int64_t received; /* items on them */
    bool has_total;   /* one of them had a total */
    int64_t total;    /* it */
    struct probe_paths paths;
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

/* After probe_read() returned true and decided to go on: the request of the next page, in
 * probe->shown. What was read of the last page stays valid as long as the arena. */
bool probe_turn(struct probe *probe, struct error *err) MUST_CHECK;

/* After probe_read() returned true: adds to probe->warnings, a sentence each, each once. */
bool probe_warn(struct probe *probe, struct error *err) MUST_CHECK;

/* Fills probe->fields; probe_read() does this. */
bool probe_count_fields(struct probe *probe, struct error *err) MUST_CHECK;
/* After the last page: adds the paths that found nothing in any record (probe_paths.c). */
bool probe_warn_paths(struct probe *probe, struct error *err) MUST_CHECK;

/* Counts the records of the page that was read (probe_paths.c). */
bool probe_count_paths(struct probe *probe, struct error *err) MUST_CHECK;

/* Of a file (role bulk): requests its beginning; makes an array of its first lines, for
 * probe_read() (probe_file.c). */
bool probe_send_file(struct probe *probe, struct http *http, const struct http_request *request,
                     struct error *err) MUST_CHECK;
bool probe_cut_file(struct probe *probe, struct error *err) MUST_CHECK;

/* Adds a sentence, unless it is there already. */
void probe_tell(struct probe *probe, const char *format, ...) PRINTF_LIKE(2, 3);

void probe_close(struct probe *probe); /* accepts the zero value */

#endif
