/* Statements of PostgreSQL. A text is prepared once per connection. Statements that are sent
 * without waiting form a pipeline: the server runs one while the values of the next are prepared.
 * After the first one that fails the server runs no more, and that failure is returned. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/postgres/postgres.h"
#include "adapter/postgres/values.h"
#include "adapter/sql/expand.h"

enum { NAME_BYTES = 32 };

struct use {
    const char *text;   /* in the dialect; NULL: not expanded yet */
    int64_t connection; /* the number of the one it is prepared on; 0: none */
    PGresult *result;
    PGresult *ahead; /* of its next use; NULL: none */
    int row;
    char uuid[37]; /* the text of the one read last */
};

static struct postgres_session *session_of(const struct statement *st)
{
    return postgres_session_of(st->session);
}

static struct use *use_of(struct statement *st, struct error *err)
{
    if (st->own == NULL && (st->own = calloc(1, sizeof(struct use))) == NULL)
        (void)error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a statement");
    return st->own;
}

static void name_of(const struct statement *st, char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "s%d", st->number);
}

static bool make_text(struct statement *st, struct use *use, struct error *err)
{
    if (use->text == NULL)
        use->text = expand_text(&st->session->texts, st->session->driver->dialect, st, 1, err);
    return use->text != NULL;
}

static bool is_prepared(const struct statement *st, const struct use *use)
{
    return use->connection == session_of(st)->connection_number;
}

/* ---- statements that are waited for ---- */

static bool prepare(struct statement *st, struct use *use, const struct values *values,
                    struct error *err)
{
    struct postgres_session *postgres = session_of(st);
    char name[NAME_BYTES];
    PGresult *result;
    bool ok;

    postgres_gather(postgres);
    if (is_prepared(st, use))
        return true;
    name_of(st, name);
    result = postgres_collect(postgres, PQsendPrepare(postgres->connection, name, use->text,
                                                      values->count, values->types));
    ok = PQresultStatus(result) == PGRES_COMMAND_OK || postgres_error_set(postgres, result, err);
    PQclear(result);
    if (ok)
        use->connection = postgres->connection_number;
    return ok;
}

static bool make_ready(struct statement *st, struct use *use, struct values *values,
                       char name[NAME_BYTES], struct error *err)
{
    name_of(st, name);
    return make_text(st, use, err) && values_of(values, &session_of(st)->scratch, st, err) &&
           prepare(st, use, values, err);
}

static bool execute(struct statement *st, struct use *use, struct error *err)
{
    struct postgres_session *postgres = session_of(st);
    struct values values;
    char name[NAME_BYTES];

    if (!make_ready(st, use, &values, name, err))
        return false;
    use->result = postgres_collect(
        postgres, PQsendQueryPrepared(postgres->connection, name, values.count, values.values,
                                      values.lengths, values.formats, 1));
    return true;
}

static bool is_done(struct statement *st, const struct use *use, struct error *err)
{
    struct postgres_session *postgres = session_of(st);
    const ExecStatusType status = PQresultStatus(use->result);

    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK ||
           postgres_error_set(postgres, use->result, err);
}

bool postgres_start(struct statement *st, struct error *err)
{
    struct use *use = use_of(st, err);
    bool ok;

    if (use == NULL)
        return false;
    use->row = -1;
    if (session_of(st)->ahead == st)
        postgres_gather(session_of(st));
    use->result = use->ahead;
    use->ahead = NULL;
    ok = (use->result != NULL || execute(st, use, err)) && is_done(st, use, err);
    arena_reset(&session_of(st)->scratch);
    return ok;
}

bool postgres_step(struct statement *st, bool *has_row, struct error *err)
{
    struct use *use = st->own;

    (void)err;
    use->row++;
    *has_row = use->row < PQntuples(use->result);
    return true;
}

int64_t postgres_end(struct statement *st)
{
    struct use *use = st->own;
    int64_t changes = 0;

    if (use == NULL)
        return 0;
    if (!str_to_i64(str_of(PQcmdTuples(use->result)), &changes))
        changes = 0;
    PQclear(use->result);
    use->result = NULL;
    return changes;
}

void postgres_forget(struct statement *st)
{
    struct use *use = st->own;

    if (use != NULL)
        PQclear(use->ahead);
    free(use);
}

/* ---- a statement that is begun ahead ----
 *
 * The server works on it, and the pump receives its result, while the session's owner does
 * something else. One at a time. libpq would throw its result away when the next statement is sent,
 * so that is read before. */

static bool send_ahead(struct statement *st, struct use *use, struct error *err)
{
    struct postgres_session *postgres = session_of(st);
    struct values values;
    char name[NAME_BYTES];

    if (!make_ready(st, use, &values, name, err))
        return false;
    return PQsendQueryPrepared(postgres->connection, name, values.count, values.values,
                               values.lengths, values.formats, 1) == 1 ||
           postgres_error_set(postgres, NULL, err);
}

bool postgres_begin_ahead(struct statement *st, struct error *err)
{
    struct postgres_session *postgres = session_of(st);
    struct use *use = use_of(st, err);
    bool ok;

    assert(st->session->store.state == STORE_IDLE);
    ok = use != NULL && send_ahead(st, use, err);
    arena_reset(&postgres->scratch);
    if (!ok)
        return false;
    postgres->ahead = st;
    return pump_start(&postgres->pump, postgres->connection, err);
}

void postgres_gather(struct postgres_session *postgres)
{
    struct use *use = postgres->ahead != NULL ? postgres->ahead->own : NULL;
    PGresult *result;

    postgres->ahead = NULL;
    if (use == NULL)
        return;
    pump_stop(&postgres->pump);
    use->ahead = postgres_result(postgres);
    while ((result = postgres_result(postgres)) != NULL)
        PQclear(result);
    if (PQresultStatus(use->ahead) == PGRES_TUPLES_OK)
        return;
    PQclear(use->ahead); /* it is run again, and fails then or not */
    use->ahead = NULL;
}

void postgres_drop_ahead(struct statement *st)
{
    struct use *use = st->own;

    if (session_of(st)->ahead == st)
        postgres_gather(session_of(st));
    if (use == NULL)
        return;
    PQclear(use->ahead);
    use->ahead = NULL;
}

/* ---- statements that are sent ----
 *
 * Each one ends with a synchronization. Between two synchronizations a session counts as active,
 * even when it only waits for the client, so the server's limit for a session that is idle in a
 * transaction would not end the one of a process that stopped there with its locks. */

static bool send_prepare(struct statement *st, struct use *use, const struct values *values)
{
    struct postgres_session *postgres = session_of(st);
    char name[NAME_BYTES];

    if (is_prepared(st, use))
        return true;
    name_of(st, name);
    if (PQsendPrepare(postgres->connection, name, use->text, values->count, values->types) != 1)
        return false;
    use->connection = postgres->connection_number;
    postgres->sent[postgres->sent_count++] = (struct postgres_sent){ .prepared = st };
    return true;
}

static bool send_values(struct statement *st, struct use *use, const struct statement_send *send,
                        struct error *err)
{
    struct postgres_session *postgres = session_of(st);
    struct values values;
    char name[NAME_BYTES];

    if (!make_text(st, use, err) || !values_of(&values, &postgres->scratch, st, err))
        return false;
    postgres_gather(postgres);
    if (PQpipelineStatus(postgres->connection) == PQ_PIPELINE_OFF)
        (void)PQenterPipelineMode(postgres->connection); /* if it fails, the next call does too */
    name_of(st, name);
    if (!send_prepare(st, use, &values) ||
        PQsendQueryPrepared(postgres->connection, name, values.count, values.values, values.lengths,
                            values.formats, 1) != 1)
        return postgres_error_set(postgres, NULL, err);
    postgres->sent[postgres->sent_count++] = (struct postgres_sent){ .send = *send };
    if (PQpipelineSync(postgres->connection) != 1)
        return postgres_error_set(postgres, NULL, err);
    return true;
}

bool postgres_send(struct statement *st, const struct statement_send *send, struct error *err)
{
    struct postgres_session *postgres = session_of(st);
    struct use *use = use_of(st, err);
    bool ok;

    assert(postgres->sent_count + 2 <= POSTGRES_SENT_MAX);
    ok = use != NULL && send_values(st, use, send, err);
    arena_reset(&postgres->scratch); /* libpq has copied the values */
    return ok;
}

/* The result of all statements that were sent. */
struct settling {
    bool ok;
    bool as_expected;
};

static bool is_as_expected(const struct postgres_sent *sent, PGresult *result)
{
    const struct str tuples = str_of(PQcmdTuples(result)); /* '': it is not about rows */
    int64_t changes = 0;

    if (sent->prepared != NULL)
        return true;
    return (tuples.len == 0 || str_to_i64(tuples, &changes)) && changes == sent->send.expected;
}

static void judge(struct postgres_session *postgres, const struct postgres_sent *sent,
                  PGresult *result, struct settling *all, struct error *err)
{
    const char *unique_key = sent->send.unique_key;

    if (PQresultStatus(result) == PGRES_COMMAND_OK)
        all->as_expected = is_as_expected(sent, result);
    else if (unique_key != NULL && postgres_is_taken(result, unique_key))
        all->as_expected = false;
    else
        all->ok = postgres_error_set(postgres, result, err);
}

/* Results that follow a failure or an unexpected one do not matter: the transaction will be rolled
 * back. But whether a statement was prepared does: that outlives the transaction. */
static void receive(struct postgres_session *postgres, const struct postgres_sent *sent,
                    struct settling *all, struct error *err)
{
    PGresult *result = postgres_result(postgres);

    if (all->ok && all->as_expected)
        judge(postgres, sent, result, all, err);
    if (sent->prepared != NULL && PQresultStatus(result) != PGRES_COMMAND_OK)
        ((struct use *)sent->prepared->own)->connection = 0;
    if (result != NULL)
        PQclear(postgres_result(postgres)); /* the NULL that ends its results */
    if (result != NULL && sent->prepared == NULL)
        PQclear(postgres_result(postgres)); /* its synchronization */
    PQclear(result);
}

/* Drops the results that were not read, up to that of the last synchronization. A lost connection
 * does not return that one, but NULL twice in a row. */
static void leave_pipeline(struct postgres_session *postgres)
{
    bool is_over = PQpipelineStatus(postgres->connection) == PQ_PIPELINE_OFF;
    bool was_end = false;

    while (!is_over) {
        PGresult *result = postgres_result(postgres);

        is_over = result == NULL ? was_end : PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        was_end = result == NULL;
        PQclear(result);
    }
    (void)PQexitPipelineMode(postgres->connection);
}

bool postgres_settle(struct sql_session *session, bool *as_expected, struct error *err)
{
    struct postgres_session *postgres = postgres_session_of(session);
    struct settling all = { .ok = true, .as_expected = true };

    if (PQpipelineStatus(postgres->connection) != PQ_PIPELINE_OFF)
        (void)PQpipelineSync(postgres->connection);
    for (int i = 0; i < postgres->sent_count; i++)
        receive(postgres, &postgres->sent[i], &all, err);
    postgres->sent_count = 0;
    leave_pipeline(postgres);
    *as_expected = all.as_expected;
    return all.ok;
}

/* ---- rows ---- */

static uint64_t get_bits(const struct use *use, int column)
{
    const unsigned char *bytes = (const unsigned char *)PQgetvalue(use->result, use->row, column);
    uint64_t bits = 0;

    for (int i = 0; i < PQgetlength(use->result, use->row, column); i++)
        bits = bits << 8 | bytes[i];
    return bits;
}

int64_t postgres_i64(const struct statement *st, int column)
{
    const struct use *use = st->own;
    const uint64_t bits = get_bits(use, column);

    switch (PQgetlength(use->result, use->row, column)) {
    case 0:
        return 0;
    case 2:
        return (int16_t)bits;
    case 4:
        return (int32_t)bits;
    default:
        if (PQftype(use->result, column) == OID_TIMESTAMPTZ)
            return postgres_time_back((int64_t)bits);
        return (int64_t)bits;
    }
}

double postgres_real(const struct statement *st, int column)
{
    const uint64_t bits = get_bits(st->own, column);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static struct str uuid_text(char *text, size_t size, const unsigned char *b)
{
    const int len =
        snprintf(text, size, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                 b[13], b[14], b[15]);

    return (struct str){ text, (size_t)len };
}

/* Text, bytes, jsonb, uuid. */
struct str postgres_view(struct statement *st, int column)
{
    struct use *use = st->own;
    const struct str view = { PQgetvalue(use->result, use->row, column),
                              (size_t)PQgetlength(use->result, use->row, column) };

    if (PQftype(use->result, column) == OID_JSONB && view.len > 0)
        return str_slice(view, 1, view.len); /* the first byte is the version of the format */
    if (PQftype(use->result, column) == OID_UUID && view.len == 16)
        return uuid_text(use->uuid, sizeof(use->uuid), (const unsigned char *)view.data);
    return view;
}

int postgres_width(const struct statement *st)
{
    return PQnfields(((const struct use *)st->own)->result);
}

const char *postgres_name(const struct statement *st, int column)
{
    return PQfname(((const struct use *)st->own)->result, column);
}

bool postgres_is_null(const struct statement *st, int column)
{
    const struct use *use = st->own;

    return PQgetisnull(use->result, use->row, column);
}
