/* bus: a bus file, compiled into the values that relays and adapters work with.
 *
 *      buses/x.yaml --bus_read--> struct bus_spec --bus_compile--> canonical JSON, hash
 *                        │                                             │ ing_subscription.spec
 *                      faults             struct bus_spec <--bus_load--╯
 *
 * The stored form is the file itself with its defaults written out, its keys sorted and its values
 * in one form, so the same reader reads both, and a later patra with other defaults runs a bus as
 * it was applied. Like any JSON it is YAML. The database is outside the program: what is loaded is
 * checked like a file, and refused unless it is exactly what compiling it again gives.
 */
#ifndef PATRA_SPEC_BUS_H
#define PATRA_SPEC_BUS_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "core/bus_spec.h"
#include "data/hash.h"
#include "spec/fault.h"

enum { BUS_FILE_BYTES_MAX = 64 << 10 };

/* Reads a file and checks it. False when there are errors; the name is there if it was found. */
bool bus_read(struct arena *arena, struct str file, struct fault_list *faults,
              struct bus_spec *spec) MUST_CHECK;

struct bus_text {
    struct str json;
    char hash[HASH_HEX_MAX]; /* the SHA-256 of it */
};

/* The spec must have been read without errors. */
bool bus_compile(struct arena *arena, const struct bus_spec *spec, struct bus_text *text,
                 struct error *err) MUST_CHECK;

/* The stored form back. "bus.spec" (L4) when it is not one. */
bool bus_load(struct arena *arena, struct str json, struct bus_spec *spec,
              struct error *err) MUST_CHECK;

/* A line per setting that differs: "~ batch.events: 500 -> 1000", "+ auth.user: env:NAME", "-
 * message_max: 1MiB". `old` may be NULL: everything is new. Returns how many. */
size_t bus_diff(struct arena *arena, const struct bus_spec *old, const struct bus_spec *new,
                struct buf *out);

/* The spec as a file, with every setting in effect. */
void bus_print(struct arena *arena, const struct bus_spec *spec, struct buf *out);

#endif
