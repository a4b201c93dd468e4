/* Databases of projections, by the secrets of a session. Any thread may open one. */
#include "worker/session_sinks.h"

#include "adapter/sink_open.h"

static bool open_sink(struct view_sinks *sinks, const struct projection_spec *spec,
                      struct store **sink, struct error *err)
{
    struct session *session = ((struct session_sinks *)sinks)->session;

    /* That it is not the store was checked when the projection was applied. */
    return sink_open(NULL, spec->database, &session->secrets.source, clock_now_us(&session->clock),
                     sink, err);
}

struct session_sinks session_sinks(struct session *session)
{
    return (struct session_sinks){ { open_sink }, session };
}
