/* byte_sink: where a stream of bytes goes: a file, a pipe, a compressor before either.
 *
 *      ok = byte_sink_write(sink, bytes, err) && ... && byte_sink_end(sink, err);
 *      byte_sink_close(sink);
 *
 * Nothing is promised of what was written before byte_sink_end() succeeded: a file does not have
 * its name until then.
 */
#ifndef PATRA_PORT_BYTE_SINK_H
#define PATRA_PORT_BYTE_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct byte_sink {
    bool (*write)(struct byte_sink *sink, struct str bytes, struct error *err);
    bool (*end)(struct byte_sink *sink, struct error *err);
    void (*close)(struct byte_sink *sink);
};

static inline bool MUST_CHECK byte_sink_write(struct byte_sink *sink, struct str bytes,
                                              struct error *err)
{
    return sink->write(sink, bytes, err);
}

/* Once, after the last write. */
static inline bool MUST_CHECK byte_sink_end(struct byte_sink *sink, struct error *err)
{
    return sink->end(sink, err);
}

/* Frees it; what was not ended is thrown away where that is possible. Accepts NULL. */
static inline void byte_sink_close(struct byte_sink *sink)
{
    if (sink != NULL)
        sink->close(sink);
}

#endif
