/* event_proto: the schema of events that a .proto file has.
 *
 * Read by hand: protobuf-c has no reader of these files, Google's is a C++ library, and calling
 * protoc would make users install a compiler to compare two texts. What a schema of events needs is
 * read: syntax, package, messages inside each other, enums, oneofs, maps, reserved numbers and
 * names. Imports, options and services are passed over; extensions and groups of proto2 are
 * refused.
 *
 * Types of the file are named from its package on ("Record.Status"), however they are written;
 * types of other files as they are written.
 */
#ifndef PATRA_SPEC_EVENT_PROTO_H
#define PATRA_SPEC_EVENT_PROTO_H

#include "core/event_compat.h"

enum {
    EVENT_PROTO_BYTES_MAX = 1 << 20,
    EVENT_PROTO_FIELDS_MAX = 10000,
    EVENT_PROTO_DEPTH_MAX = 32
};

/* "proto.syntax" (L2), with line and column and what was expected; "proto.limit" (L2) for a file
 * with more fields or deeper messages than the maximum. Texts are views of `text`, or in the arena.
 */
bool event_proto_read(struct arena *arena, struct str text, struct event_schema *schema,
                      struct error *err) MUST_CHECK;

#endif
