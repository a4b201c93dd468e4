/* reader: all paths into the responses of one endpoint, ready to run.
 *
 * JSONPaths are compiled with the spec. XPaths are compiled here, because those of libxml2 must not
 * be shared between threads: each walk has one reader per endpoint.
 */
#ifndef PATRA_ENGINE_FETCH_READER_H
#define PATRA_ENGINE_FETCH_READER_H

#include "engine/fetch/document.h"

struct reader {
    const struct spec_endpoint *endpoint;
    const struct xml *xml; /* NULL for JSON */
    struct document_path items;
    struct document_path container; /* XML: of the items; none: unknown. See xml_container.h */
    struct document_path elements;
    struct document_path strangers;
    struct document_path id[SPEC_ID_PARTS_MAX];
    struct document_path updated_at[SPEC_DATE_PATHS_MAX];
    struct document_path version;
    struct document_path total;
    struct document_path has_more;
    struct document_path sequence;
    struct document_path latest;
    struct document_path sync_token;
    struct document_path deleted;
    struct document_path merged_into;
    struct document_path next;
    struct document_path *success; /* by the index of the rule or field in the spec */
    struct document_path *errors;
    struct document_path *history;
    struct document_path *fields;
    struct str *field_keys;   /* of the fields in the store (core/record_view.h) */
    struct xml_path **opened; /* those to close */
    size_t opened_count;
};

/* xml may be NULL: the module is then loaded for an endpoint that responds in XML. The endpoint
 * must outlive the reader. Errors: "xpath.syntax" (L4: a path does not compile, which a checked
 * source does not have), "module.*" (L4: the module cannot be loaded). */
bool reader_open(struct reader *reader, struct arena *arena, const struct spec_endpoint *endpoint,
                 const struct xml *xml, struct error *err) MUST_CHECK;
void reader_close(struct reader *reader); /* accepts the zero value */

#endif
