/* ram_database: a SQLite database in RAM, for tests that need many of them or many commits.
 *
 * It is an ordinary file, opened as in production, write-ahead log included; only its folder is in
 * RAM: /dev/shm, or TMPDIR where that is not writable. Migrations run once per program, into a
 * template; a new database is a copy of it.
 */
#ifndef PATRA_TEST_SUPPORT_RAM_DATABASE_H
#define PATRA_TEST_SUPPORT_RAM_DATABASE_H

/* The path of a new database with the schema in place. It replaces the one handed out before, whose
 * files are removed; sessions still open on that one keep it until they close. Everything is
 * removed when the program ends. */
const char *ram_database(void);

#endif
