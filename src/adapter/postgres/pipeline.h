/* pipeline: several statements, none of which waits for the answer to the one before: the server
 * works on one while the values of the next are put together.
 *
 *      pipeline_begin(postgres);
 *      while (ok && ...)                               // query_init, set_..., each time
 *          ok = pipeline_send(&q, err);
 *      pipeline_turn(postgres);
 *      while (ok && ...)                               // as many as were sent
 *          ok = pipeline_receive(postgres, NULL, &changes, err);
 *      pipeline_leave(postgres);                       // always, also after a failure
 *
 * Each must have been prepared (query_prepare) before the pipeline is begun. After the first that
 * fails the server does none, and its is the failure to tell.
 */
#ifndef PATRA_ADAPTER_POSTGRES_PIPELINE_H
#define PATRA_ADAPTER_POSTGRES_PIPELINE_H

#include "adapter/postgres/query.h"

void pipeline_begin(struct postgres_store *postgres);

/* The query is finished with; when it could not be sent, err tells why. */
bool pipeline_send(struct query *q, struct error *err) MUST_CHECK;

/* Nothing more is sent. */
void pipeline_turn(struct postgres_store *postgres);

/* The answer to the next one: how many rows it added or changed; -1 when it was refused because
 * `key`, a unique index, has a row like one of its own already (NULL: that is an error like any).
 */
bool pipeline_receive(struct postgres_store *postgres, const char *key, int64_t *changes,
                      struct error *err) MUST_CHECK;

/* Answers that were not taken are dropped. */
void pipeline_leave(struct postgres_store *postgres);

#endif
