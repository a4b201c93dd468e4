/* snapshot: everything an operation's plan needs to know of its source, in one immutable text.
 *
 *      rows --resolve--> values in effect --snapshot_make--> canonical JSON, fingerprint
 *
 * A snapshot is made from rows, never from a file, and holds values, not where they came from:
 * built-ins are written out, so a later patra with other built-ins runs an old plan as it was
 * planned. Executors read nothing else; of credentials it has the references alone.
 *
 *      {"auth":{"type":"NONE",...},"detail":{...},"endpoint":"works","expr":{...},"fields":{...},
 *       "headers":[...],"http":{"base_url":...,"connect_timeout_us":10000000,...},
 *       "method":"GET","operation":{"name":"harvest","operation":"HARVEST",...},"page":{...},
 *       "params":{...},"path":"/works","query":[{"name":"rows","value":"${page.size}",...}],
 *       "rate":{...},"response":{...},"retry":{...},"source":"crossref","version":1,"window":{...}}
 *
 * Groups and names are those of the file (docs/source-format.md); durations end in _us, sizes in
 * _bytes, words are those of the dictionaries. "detail" is phase two: the same groups for the
 * details endpoint. What nobody says is absent. Lists that have an order in the file are lists.
 *
 * spec_fingerprint is the SHA-256 of exactly these bytes, so it is the same on every machine, and
 * changes when a value in effect changes and at no other time. expr_proto_hash is taken over the
 * part that decides what is asked for and how an answer is read (settings marked is_proto): not
 * over page sizes, rates or schedules, whose change gives no reason to fetch a record again.
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
    char expr_proto_hash[HASH_HEX_MAX];
};

struct snapshot_request {
    const struct source *source;
    struct str operation; /* its name, or its word where only one has it */
    struct override_list overrides;
};

/* The rows must have been checked, with the same overrides (source_check_plan). "spec.snapshot"
 * (L2) when there is no such operation or it has no endpoint; "spec.override" for what a trigger
 * may not say. */
bool snapshot_make(struct arena *arena, const struct snapshot_request *request,
                   struct snapshot *snapshot, struct error *err) MUST_CHECK;

#endif
