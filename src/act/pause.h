/* pause: a person pauses a source or an endpoint, and resumes it. */
#ifndef PATRA_ACT_PAUSE_H
#define PATRA_ACT_PAUSE_H

#include "port/store_pause.h"
#include "view/reader.h"

/* "source.unknown", "pause.endpoint" (L2). *added is false when it was paused already. */
bool act_pause(const struct view_reader *reader, const struct pause *pause, bool *added,
               struct error *err) MUST_CHECK;

/* Removes the pause, and the stop that a fatal error has set. Resuming a whole source also takes
 * credentials that were refused back into use. *changed is false when there was nothing to do;
 * "source.unknown", "pause.endpoint" (L2) then, where there is no such place. */
bool act_resume(const struct view_reader *reader, struct str source, struct str endpoint,
                bool *changed, struct error *err) MUST_CHECK;

#endif
