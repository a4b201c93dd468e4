/* entrez_term: the part of PubMed's query language that harvesters need.
 *
 *      ("2026/01/01"[CRDT] : "2026/01/02"[CRDT]) AND 30000000:30000999[UID] AND cancer
 *
 * Ranges and single values of date fields and of UIDs restrict the result; AND joins them. All
 * other words and fields match every record. With an OR anywhere, one of several dates is enough:
 *
 *      ("2026/01/01"[CRDT] : "2026/01/02"[CRDT]) OR ("2026/01/01"[MDAT] : "2026/01/02"[MDAT])
 *
 * UIDs restrict these, too. Dates joined by AND and OR in one term, and NOT, are not supported.
 */
#ifndef PATRA_SIM_PROTOCOL_ENTREZ_TERM_H
#define PATRA_SIM_PROTOCOL_ENTREZ_TERM_H

#include <stdbool.h>

#include "base/str.h"
#include "sim/world/view.h"

/* `zone_us`: PubMed's clock against UTC. `base`: the UID of record 0. False when a date is not
 * valid. */
bool entrez_term_parse(struct str term, int64_t zone_us, uint32_t base, struct view_query *query);

/* datetype, mindate and maxdate; all three days inclusive. */
bool entrez_dates_parse(struct str datetype, struct str mindate, struct str maxdate,
                        int64_t zone_us, struct view_query *query);

#endif
