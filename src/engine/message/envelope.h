/* envelope: an event as it is published, put together from the rows of the store.
 *
 *      ing_outbox     version, event type, body ───────────╮
 *      ing_record     source, endpoint, the provider's id ─┼──▶ the wire event of record_event.h
 *      ing_task_run_batch, ing_plan   lineage, exprHash ───╯
 *
 * Of an event of a record; a foreign one is published as it is (engine/message/wire.h).
 *
 * Each member is at its place, once, whichever row it comes from: the same event gives the same
 * bytes whenever it is made.
 */
#ifndef PATRA_ENGINE_MESSAGE_ENVELOPE_H
#define PATRA_ENGINE_MESSAGE_ENVELOPE_H

#include "port/store_outbox.h"

/* L3, "event.body", when the body is not one that engine/event makes: the database is outside. */
bool envelope_make(struct arena *arena, const struct stored_event *stored, struct str *json,
                   struct error *err) MUST_CHECK;

#endif
