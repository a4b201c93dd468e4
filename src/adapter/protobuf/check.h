/* check: bytes that protobuf-c may unpack.
 *
 * protobuf-c goes as deep as the bytes say, ends texts at a NUL and takes any bytes for a text. So
 * the bytes of others are looked at first, by the same description of the message.
 */
#ifndef PATRA_ADAPTER_PROTOBUF_CHECK_H
#define PATRA_ADAPTER_PROTOBUF_CHECK_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

#include "base/str.h"

/* Messages inside each other; decoders of other languages stop there too. */
enum { PROTOBUF_DEPTH_MAX = 100 };

/* Whole fields, at most PROTOBUF_DEPTH_MAX deep, whose texts are UTF-8 without a NUL. */
bool protobuf_is_plain(struct str bytes, const ProtobufCMessageDescriptor *kind);

#endif
