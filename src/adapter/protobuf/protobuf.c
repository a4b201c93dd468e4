/* Loads the module that writes and reads Protobuf. */
#include "adapter/protobuf/protobuf.h"

bool protobuf_event_codec(const struct event_codec **codec, struct error *err)
{
    const struct protobuf_library *library = module_load("protobuf", err);

    *codec = library != NULL ? &library->event : NULL;
    return library != NULL;
}
