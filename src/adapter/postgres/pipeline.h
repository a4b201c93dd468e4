/* pipeline: several statements, none of which waits for the answer to the one before: the server
 * works on one while the values of the next are put together.
 *
 *      while (ok && ...)                               // query_init, set_..., each time
 *          ok = pipeline_send(&q, err);
 *      pipeline_turn(postgres);
 *      while (ok && ...) {                             // as many as were sent
 *          pipeline_receive(&q, postgres);
 *          while (query_row(&q)) ...
 *          ok = query_finish(&q, err);
 *      }
 *      pipeline_leave(postgres);                       // always, also after a failure
 *
 * All of one text, which is prepared before the first is sent. After the first that fails the
 * server does none, and its is the failure to tell.
 */
#ifndef PATRA_ADAPTER_POSTGRES_PIPELINE_H
#define PATRA_ADAPTER_POSTGRES_PIPELINE_H

#include "adapter/postgres/query.h"

/* The query is finished with; when it could not be sent, err tells why. */
bool pipeline_send(struct query *q, struct error *err) MUST_CHECK;

/* Nothing more is sent. */
void pipeline_turn(struct postgres_store *postgres);

/* The answer to the next one. */
void pipeline_receive(struct query *q, struct postgres_store *postgres);

/* Answers that were not taken are dropped. */
void pipeline_leave(struct postgres_store *postgres);

#endif
