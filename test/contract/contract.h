/* contract: the suite of promises in port/store*.h, run over every adapter.
 *
 * The test files here know only the port; a fixture_*.c file, linked into each program, makes
 * databases of its kind. Tests of other folders that need a store use the same fixtures.
 */
#ifndef PATRA_TEST_CONTRACT_H
#define PATRA_TEST_CONTRACT_H

#include "adapter/store_open.h"
#include "port/store.h"
#include "test.h"

/* The address of a new, empty database; skips the test when the server is not installed. The
 * string lives until the program ends. */
const char *contract_new_database(void);

const char *contract_migrated(const char *dsn); /* returns dsn, its schema in place */

/* Where PATRA_TEST_ROLES names roles of core/grants.h ("executor,publisher"), the sessions of
 * contract_open() and of stores made of it have these roles' privileges together, and no more. The
 * fixture of a database that has roles makes them (contract_grant) and puts them into the address
 * (contract_as_roles); others ignore the variable. */
void contract_grant(const char *dsn);
const char *contract_as_roles(const char *dsn);

/* The address of a database with the schema in place and no rows but those of the dictionaries. It
 * replaces the one handed out before. */
const char *contract_ready_database(void);

/* A digest of all rows of the ready database: equal before and after a call that changed nothing.
 */
uint64_t contract_digest(void);

/* How many of `count` rounds of a test with chance this database runs: a slow one runs a part, and
 * a note says so. */
int contract_rounds(int count);

/* Runs SQL on the database itself; _try returns false where the other fails the test. */
void contract_sql(const char *dsn, const char *sql);
bool contract_try_sql(const char *dsn, const char *sql);

/* A store on a new database with the schema in place; closed by contract_end(). */
struct store *contract_store(void);

/* The same database once more, for a second thread or a look from outside. */
struct store *contract_another(struct store *store);

/* Opens what contract_new_database() named; not closed by contract_end(). */
struct store *contract_open(const char *dsn);

/* The same as the owner of the tables, whatever PATRA_TEST_ROLES says. */
struct store *contract_open_owner(const char *dsn);
/* The owner's session on the database that was opened last; closed by contract_end(). */
struct store *contract_owner(void);

/* An arena for results, ended with the test. */
struct arena *contract_arena(void);

/* To be called at the end of each test: closes and frees all of the above. A test that is cut short
 * has failed already. */
void contract_end(void);

/* Forks `count` processes that wait for each other and then run `work` at once. Returns the sum of
 * what they return (0..100 each), or -1 when one of them failed (returned less than 0, or died). */
int contract_processes(int count, int (*work)(int index, const char *dsn), const char *dsn);

/* An instant to start from, and any time after it. */
#define NOW_US INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */

#endif
