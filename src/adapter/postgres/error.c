/* SQLSTATEs as error values. */
#include "adapter/postgres/postgres.h"

#include <string.h>

#include "base/attr.h"
#include "data/redact.h"

static const struct {
    const char *state; /* a SQLSTATE or the beginning of one; the first row that matches is used */
    enum error_level level;
    const char *name;
} LEVELS[] = {
    { "08", ERROR_TRANSIENT, "store.lost" },
    { "57P04", ERROR_FATAL, "store.missing" }, /* the database was dropped */
    { "57P", ERROR_TRANSIENT, "store.lost" },  /* shutdown, crash, starting up */
    { "57", ERROR_TRANSIENT, "store.busy" },   /* cancelled by timeout */
    { "40", ERROR_TRANSIENT, "store.conflict" },
    { "55", ERROR_TRANSIENT, "store.busy" },
    { "53", ERROR_TRANSIENT, "store.full" },
    { "58", ERROR_TRANSIENT, "store.lost" },
    { "23", ERROR_REQUEST, "store.constraint" },
    { "22021", ERROR_DATA, "store.text" },
    { "22P05", ERROR_DATA, "store.text" },
    { "22", ERROR_REQUEST, "store.value" },
    { "3D000", ERROR_REQUEST, "store.missing" },
    { "28", ERROR_FATAL, "store.auth" },
    { "42501", ERROR_FATAL, "store.auth" },
    { "25006", ERROR_TRANSIENT, "store.lost" }, /* read-only: a standby; the primary is elsewhere,
                                                 * or will be here soon */
    { "42P01", ERROR_FATAL, "store.schema" },
    { "42703", ERROR_FATAL, "store.schema" },
    { "42883", ERROR_FATAL, "store.schema" },
    { "3F", ERROR_FATAL, "store.schema" },
    { "XX", ERROR_FATAL, "store.corrupt" },
};

enum error_level postgres_error_level(const char *state, const char **name)
{
    for (size_t i = 0; i < ARRAY_LEN(LEVELS); i++) {
        if (strncmp(state, LEVELS[i].state, strlen(LEVELS[i].state)) == 0) {
            *name = LEVELS[i].name;
            return LEVELS[i].level;
        }
    }
    *name = "store.statement";
    return ERROR_FATAL;
}

/* Leaves out the hints and positions in the lines after it. */
static struct str first_line(const char *message)
{
    struct str rest = str_of(message);

    return str_trim(str_cut(&rest, '\n'));
}

/* A server that is shown a password may repeat it, and so does libpq with an address it cannot
 * read.
 */
bool postgres_redact(const PGconn *connection, struct error *err)
{
    const char *password = connection != NULL ? PQpass(connection) : NULL;

    if (password != NULL)
        redact_error(err, str_of(password));
    return false;
}

bool postgres_error_set(struct postgres_session *postgres, const PGresult *result,
                        struct error *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *name;
    enum error_level level;

    if (state == NULL || PQstatus(postgres->connection) != CONNECTION_OK) {
        const struct str line = first_line(PQerrorMessage(postgres->connection));

        if (postgres->has_given_up)
            (void)error_set(err, ERROR_TRANSIENT, "store.lost",
                            "the database does not respond: the connection was given up");
        else
            (void)error_set(err, ERROR_TRANSIENT, "store.lost", "%.*s", STR_ARG(line));
        return postgres_redact(postgres->connection, err);
    }
    level = postgres_error_level(state, &name);
    (void)error_set(err, level, name, "%s (%s)", message != NULL ? message : "",
                    constraint != NULL ? constraint : state);
    return postgres_redact(postgres->connection, err);
}

bool postgres_is_taken(const PGresult *result, const char *key)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);

    return state != NULL && constraint != NULL && strcmp(state, "23505") == 0 &&
           strcmp(constraint, key) == 0;
}
