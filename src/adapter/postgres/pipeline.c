#include "adapter/postgres/pipeline.h"

#include "adapter/postgres/postgres.h"

/* What fails here and in pipeline_turn is told by the answers that do not come. */
void pipeline_begin(struct postgres_store *postgres)
{
    (void)PQenterPipelineMode(postgres->connection);
}

bool pipeline_send(struct query *q, struct error *err)
{
    if (!query_is_ready(q) || !postgres_send(q))
        return query_finish(q, err); /* not text; or without an answer: the connection is lost */
    arena_reset(&q->owner->scratch); /* libpq has copied it */
    return true;
}

void pipeline_turn(struct postgres_store *postgres)
{
    (void)PQpipelineSync(postgres->connection);
}

bool pipeline_receive(struct postgres_store *postgres, const char *key, int64_t *changes,
                      struct error *err)
{
    PGresult *result = PQgetResult(postgres->connection);
    bool ok = true;

    if (key != NULL && postgres_is_taken(result, key))
        *changes = -1;
    else if (PQresultStatus(result) != PGRES_COMMAND_OK)
        ok = postgres_error_set(postgres, result, err);
    else if (!str_to_i64(str_of(PQcmdTuples(result)), changes))
        *changes = 0;
    if (result != NULL)
        PQclear(PQgetResult(postgres->connection)); /* NULL: the end of this one's */
    PQclear(result);
    return ok;
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
