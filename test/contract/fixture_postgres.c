#include <libpq-fe.h>

#include "contract.h"
#include "postgres.h"

const char *contract_new_database(void)
{
    struct error err;
    const char *dsn = postgres_new_database(&err);

    if (dsn == NULL && err.level == ERROR_NONE)
        TEST_SKIP("PostgreSQL 15 is not installed");
    if (dsn == NULL) {
        test_fail(__FILE__, __LINE__, "%s", err.text);
        test_abort();
    }
    return dsn;
}

void contract_sql(const char *dsn, const char *sql)
{
    PGconn *connection = PQconnectdb(dsn);
    PGresult *result = PQexec(connection, sql);
    const ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}
