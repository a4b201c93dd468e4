/* payload: the payloads of records as they were received, whether they are stored so or packed.
 *
 *      "SELECT id, provider_id, " PAYLOAD_COLUMNS " FROM ... JOIN ing_record_content ..."
 *
 *      record->payload = payload_text(st, arena, record->provider_id);
 *
 * The only place that reads packed payloads; nobody behind the port knows of them. Each row names
 * the dictionary that it was packed with (engine/archive/payload_pack.h), so that rows of both
 * kinds live together. A session keeps the dictionaries that it used last ready for use.
 *
 * What cannot be unpacked fails as a column that cannot be read does: rows_finish() returns it,
 * with the id of the record. "pack.broken" (L4): the bytes have changed, or their dictionary is
 * missing; "module.missing" (L4): so is what unpacks them.
 */
#ifndef PATRA_ADAPTER_SQL_PAYLOAD_H
#define PATRA_ADAPTER_SQL_PAYLOAD_H

#include "adapter/sql/session.h"

/* The two columns that are read by one of the following. */
#define PAYLOAD_COLUMNS "dictionary_id, payload"

struct str payload_text(struct statement *st, struct arena *arena, struct str provider_id);
struct str payload_view(struct statement *st, struct str provider_id); /* until the next column */

/* As payload_text(); *is_broken instead of "pack.broken". */
struct str payload_try(struct statement *st, struct arena *arena, struct str provider_id,
                       bool *is_broken);

/* The session connects to what may be another database, or ends. */
void payload_forget(struct sql_session *session);

#endif
