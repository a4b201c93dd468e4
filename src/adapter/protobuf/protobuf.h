/* protobuf: events as Protobuf, by proto/patra/event/v1/event.proto.
 *
 * The codec is the module patra-protobuf.so, loaded on first use.
 */
#ifndef PATRA_ADAPTER_PROTOBUF_PROTOBUF_H
#define PATRA_ADAPTER_PROTOBUF_PROTOBUF_H

#include "base/module.h"
#include "port/event_codec.h"

struct protobuf_library {
    struct module_head head;
    struct event_codec event;
};

/* Loads the module; *codec lives as long as the program. */
bool protobuf_event_codec(const struct event_codec **codec, struct error *err) MUST_CHECK;

/* In the module. */
bool protobuf_event_encode(struct arena *arena, struct str json, struct str *bytes,
                           struct error *err) MUST_CHECK;
bool protobuf_event_decode(struct arena *arena, struct str bytes, struct str *json,
                           struct error *err) MUST_CHECK;

#endif
