/* cursor_event: writing an event of a cursor. A caller that moves a cursor writes its event first,
 * both in one transaction under the lock of the namespace.
 */
#ifndef PATRA_ENGINE_CURSOR_CURSOR_EVENT_H
#define PATRA_ENGINE_CURSOR_CURSOR_EVENT_H

#include "core/canon.h"
#include "port/store_cursor.h"
#include "port/store_task.h"

/* Adds the event, starting from the cursor as it was loaded: name, prev and idempotent_key are
 * taken from it. An event that already exists counts as added. */
bool cursor_event_record(struct store *store, struct arena *arena, const struct cursor *from,
                         struct cursor_event *event, struct error *err) MUST_CHECK;

struct cursor_name cursor_name_of(const struct coverage_namespace *of);
struct coverage_namespace cursor_namespace(const struct cursor_name *name);

/* The lock under which a cursor moves: that of its namespace. */
bool cursor_lock(struct store *store, const struct cursor_name *name, struct error *err) MUST_CHECK;

/* The instant or text of cursor_value as text, in the arena; data is NULL when the arena is full.
 */
struct str cursor_text(struct arena *arena, const struct cursor_value *value) MUST_CHECK;

/* The longest JSON of an event's remarks: a value, or the text of a person with each byte escaped.
 */
enum { CURSOR_REMARKS_MAX = 32768 };

#endif
