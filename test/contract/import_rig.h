/* import_rig: a foreign database with an outbox, and an import of it into the store of a contract
 * test. */
#ifndef PATRA_TEST_CONTRACT_IMPORT_RIG_H
#define PATRA_TEST_CONTRACT_IMPORT_RIG_H

#include <libpq-fe.h>

#include "contract.h"
#include "engine/import/import.h"
#include "fixed_secret.h"

struct import_rig {
    const char *dsn;     /* of the store */
    const char *foreign; /* of the foreign database */
    struct store *store;
    struct fixed_secret secret;
    struct fixed_secrets secrets;
    struct import_spec spec;
    struct foreign_outbox *outbox;
    struct import *import;
    PGconn *db; /* a session of the service */
};

/* 002's table, empty, and an import of it by the file; NULL: of 002's names. */
void import_rig_begin(struct import_rig *rig, const char *file);
void import_rig_end(struct import_rig *rig);

/* Another foreign database address, another user. */
void import_rig_reopen(struct import_rig *rig, const char *dsn, const char *owner);

PGconn *import_rig_connect(const char *dsn);
void import_rig_sql(PGconn *db, const char *sql);
int64_t import_rig_number(PGconn *db, const char *sql);
void import_rig_add(PGconn *db, const char *key, int64_t version);

struct import_round import_rig_round(struct import_rig *rig);
/* Rounds until nothing is left; returns how many were imported. */
int64_t import_rig_drain(struct import_rig *rig);

/* Every row of app_outbox is published and in the outbox once, those of a key in order. */
void import_rig_check(struct import_rig *rig, int64_t rows);

#endif
