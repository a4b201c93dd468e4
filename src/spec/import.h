/* import: the file of a foreign outbox, compiled into the values that an importer works with.
 *
 *      outboxes/x.yaml --import_read--> struct import_spec --import_compile--> canonical JSON, hash
 *                          │                                                      │
 *                        faults          struct import_spec <--import_load-- ing_subscription.spec
 *
 * As with buses (spec/bus.h), the stored form is the file itself with its defaults written out, so
 * one reader reads both. The database is outside the program: what is loaded is checked like a
 * file.
 */
#ifndef PATRA_SPEC_IMPORT_H
#define PATRA_SPEC_IMPORT_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "core/import_spec.h"
#include "data/hash.h"
#include "spec/fault.h"

enum { IMPORT_FILE_BYTES_MAX = 64 << 10 };

/* Reads a file and checks it. False when there are errors; the name is there if it was found. */
bool import_read(struct arena *arena, struct str file, struct fault_list *faults,
                 struct import_spec *spec) MUST_CHECK;

struct import_text {
    struct str json;
    char hash[HASH_HEX_MAX]; /* the SHA-256 of it */
};

/* The spec must have been read without errors. */
bool import_compile(struct arena *arena, const struct import_spec *spec, struct import_text *text,
                    struct error *err) MUST_CHECK;

/* The stored form back. "import.spec" (L4) when it is not one. */
bool import_load(struct arena *arena, struct str json, struct import_spec *spec,
                 struct error *err) MUST_CHECK;

/* A table of Markdown with every setting; a test compares it with docs/foreign-outboxes.md. */
void import_manual_write(struct buf *out);

#endif
