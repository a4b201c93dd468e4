#include "adapter/postgres/pipeline.h"

#include "adapter/postgres/postgres.h"

bool pipeline_send(struct query *q, struct error *err)
{
    PGconn *connection = q->owner->connection;

    if (!query_is_ready(q))
        return query_finish(q, err);
    if (PQpipelineStatus(connection) == PQ_PIPELINE_OFF) {
        q->result = postgres_prepare(q);
        if (q->result != NULL)
            return query_finish(q, err);
        (void)PQenterPipelineMode(connection);
    }
    if (!postgres_send(q))
        return query_finish(q, err); /* without an answer: the connection is lost */
    arena_reset(&q->owner->scratch); /* libpq has copied it */
    return true;
}

/* What fails here is told by the answers that do not come. */
void pipeline_turn(struct postgres_store *postgres)
{
    if (PQpipelineStatus(postgres->connection) != PQ_PIPELINE_OFF)
        (void)PQpipelineSync(postgres->connection);
}

void pipeline_receive(struct query *q, struct postgres_store *postgres)
{
    query_init(q, postgres, NULL);
    q->result = PQgetResult(postgres->connection);
    q->row = QUERY_ANSWERED;
    if (q->result != NULL)
        PQclear(PQgetResult(postgres->connection)); /* NULL: the end of this one's */
}

/* Up to the answer to the turn; of a lost connection there is none, and two ends follow each other.
 */
void pipeline_leave(struct postgres_store *postgres)
{
    bool is_over = PQpipelineStatus(postgres->connection) == PQ_PIPELINE_OFF;
    bool was_end = false;

    while (!is_over) {
        PGresult *result = PQgetResult(postgres->connection);

        is_over = result == NULL ? was_end : PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        was_end = result == NULL;
        PQclear(result);
    }
    (void)PQexitPipelineMode(postgres->connection);
}
