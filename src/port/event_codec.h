/* event_codec: a form of events that needs a library.
 *
 * The wire event is JSON (engine/event/record_event.h). A codec writes the same event in another
 * form, and reads it back: nothing is added, and nothing is lost. Any number of threads may use one
 * at once.
 */
#ifndef PATRA_PORT_EVENT_CODEC_H
#define PATRA_PORT_EVENT_CODEC_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct event_codec {
    const char *content_type;
    /* "event.body" (L3) when `json` is not a wire event. The bytes live in the arena. */
    bool (*encode)(struct arena *arena, struct str json, struct str *bytes, struct error *err);
    /* "event.body" (L3) when the bytes, which may be anybody's, are not an event. */
    bool (*decode)(struct arena *arena, struct str bytes, struct str *json, struct error *err);
};

static inline bool MUST_CHECK event_codec_encode(const struct event_codec *codec,
                                                 struct arena *arena, struct str json,
                                                 struct str *bytes, struct error *err)
{
    return codec->encode(arena, json, bytes, err);
}

static inline bool MUST_CHECK event_codec_decode(const struct event_codec *codec,
                                                 struct arena *arena, struct str bytes,
                                                 struct str *json, struct error *err)
{
    return codec->decode(arena, bytes, json, err);
}

#endif
