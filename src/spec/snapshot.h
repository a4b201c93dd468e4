/* snapshot: everything that a plan of an operation needs from its source, in one immutable text.
 *
 *      rows --resolve--> values in effect --snapshot_make--> canonical JSON, fingerprint
 *
 * A snapshot is made from rows, never from a file, and has values, not their origins. Defaults are
 * written out, so that a later patra with other defaults runs an old plan as it was planned.
 * Executors read nothing else. Of credentials it has only the references.
 *
 *      {"auth":{"type":"NONE",...},"detail":{...},"endpoint":"works","expr":{...},"fields":{...},
 *       "headers":[...],"http":{"base_url":...,"connect_timeout_us":10000000,...},
 *       "method":"GET","operation":{"name":"harvest","operation":"HARVEST",...},"page":{...},
 *       "params":{...},"path":"/works","query":[{"name":"rows","value":"${page.size}",...}],
 *       "rate":{...},"response":{...},"retry":{...},"source":"crossref","version":1,"window":{...}}
 *
 * Groups and names are those of the file (docs/source-format.md); durations end in _us, sizes in
 * _bytes, words are those of the dictionaries. "detail" is phase two: the same groups for the
 * details endpoint. Settings without a value are absent. Lists that have an order in the file are
 * lists.
 *
 * spec_fingerprint is the SHA-256 of exactly these bytes, so it is the same on every machine, and
 * changes exactly when a value in effect changes. Two more hashes cover parts of it:
 *
 *      query_hash     which records are requested and kept (settings marked is_proto), with the
 *                     parameters that it uses: a literal by its value, a reference by its name, and
 *                     one that `selects` by the hash of its value (spec/selected.h). A namespace of
 *                     scope EXPR is this hash: another query has covered nothing yet.
 *      mapping_hash   how a stored record is read (settings marked is_mapping), of the endpoint
 *                     whose responses are the records: the details endpoint in two phases. When
 *                     only this changes, records are read again from their stored payloads.
 *
 * expr_proto_hash is the hash of both. Page sizes, rates and schedules are in neither: their change
 * is no reason to fetch a record again.
 */
#ifndef PATRA_SPEC_SNAPSHOT_H
#define PATRA_SPEC_SNAPSHOT_H

#include "base/arena.h"
#include "base/attr.h"
#include "data/hash.h"
#include "spec/resolve.h"

enum { SNAPSHOT_VERSION = 1, SNAPSHOT_BYTES_MAX = 4 << 20 };

struct snapshot {
    struct str json; /* canonical */
    char fingerprint[HASH_HEX_MAX];
    char query_hash[HASH_HEX_MAX];
    char mapping_hash[HASH_HEX_MAX];
    char expr_proto_hash[HASH_HEX_MAX]; /* of the two */
};

struct snapshot_request {
    const struct source *source;
    struct str operation; /* its name, or its kind where only one has it */
    struct override_list overrides;
};

/* The rows must have been checked, with the same overrides (source_check_plan). "source.operation"
 * (L2) when the operation does not exist, "spec.snapshot" (L2) when it has no endpoint,
 * "spec.override" (L2) when the trigger sets what it may not. */
bool snapshot_make(struct arena *arena, const struct snapshot_request *request,
                   struct snapshot *snapshot, struct error *err) MUST_CHECK;

/* expr_proto_hash of a query and a mapping, which need not be in force together. */
bool expr_hash_of(struct str query_hash, struct str mapping_hash, char hex[HASH_HEX_MAX],
                  struct error *err) MUST_CHECK;

#endif
