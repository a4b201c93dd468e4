/* projection: a projection file, compiled into the values that consumers and sinks work with.
 *
 *      projections/x.yaml --projection_read--> struct projection_spec --projection_compile--> JSON
 *                             │                                                            │
 *                           faults      struct projection_spec <--projection_load--
 * ing_subscription
 *
 * As with buses (spec/bus.h), the stored form is the file itself with its defaults written out, so
 * one reader reads both; what is loaded is checked like a file, and refused unless it is exactly
 * what compiling it again gives. It keeps the order of the file, which is the order of a table's
 * columns.
 */
#ifndef PATRA_SPEC_PROJECTION_H
#define PATRA_SPEC_PROJECTION_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "core/projection_spec.h"
#include "data/hash.h"
#include "spec/fault.h"

enum { PROJECTION_FILE_BYTES_MAX = 256 << 10 };

/* Reads a file and checks it. False when there are errors; the name is there if it was found. */
bool projection_read(struct arena *arena, struct str file, struct fault_list *faults,
                     struct projection_spec *spec) MUST_CHECK;

struct projection_text {
    struct str json;
    char hash[HASH_HEX_MAX]; /* the SHA-256 of it */
};

/* The spec must have been read without errors. */
bool projection_compile(struct arena *arena, const struct projection_spec *spec,
                        struct projection_text *text, struct error *err) MUST_CHECK;

/* The stored form back. "projection.spec" (L4) when it is not one. */
bool projection_load(struct arena *arena, struct str json, struct projection_spec *spec,
                     struct error *err) MUST_CHECK;

/* A line per value that differs: "~ tables.works.columns.year.type: text -> integer". `old` is a
 * stored form, or empty: everything is new. *count says how many. */
bool projection_diff(struct arena *arena, struct str old, struct str new, struct buf *out,
                     size_t *count, struct error *err) MUST_CHECK;

/* The stored form as a file, with every setting in effect. */
bool projection_print(struct arena *arena, struct str json, struct buf *out,
                      struct error *err) MUST_CHECK;

/* Markdown: the settings by level; a test compares it with docs/projections.md. */
void projection_manual_write(struct buf *out);

#endif
