/* SQLSTATEs of PostgreSQL become error levels and codes. */
#include "adapter/postgres/postgres.h"

#include "test.h"

/* Names of the states: PostgreSQL 15, appendix A. */
static const struct {
    const char *state;
    enum error_level level;
    const char *name;
} cases[] = {
    { "08006", ERROR_TRANSIENT, "store.lost" },     /* connection_failure */
    { "57P01", ERROR_TRANSIENT, "store.lost" },     /* admin_shutdown */
    { "57P02", ERROR_TRANSIENT, "store.lost" },     /* crash_shutdown */
    { "57P03", ERROR_TRANSIENT, "store.lost" },     /* cannot_connect_now */
    { "57P04", ERROR_FATAL, "store.missing" },      /* database_dropped */
    { "57014", ERROR_TRANSIENT, "store.busy" },     /* query_canceled */
    { "40001", ERROR_TRANSIENT, "store.conflict" }, /* serialization_failure */
    { "40P01", ERROR_TRANSIENT, "store.conflict" }, /* deadlock_detected */
    { "55P03", ERROR_TRANSIENT, "store.busy" },     /* lock_not_available */
    { "53300", ERROR_TRANSIENT, "store.full" },     /* too_many_connections */
    { "53100", ERROR_TRANSIENT, "store.full" },     /* disk_full */
    { "23505", ERROR_REQUEST, "store.constraint" }, /* unique_violation */
    { "23514", ERROR_REQUEST, "store.constraint" }, /* check_violation */
    { "23503", ERROR_REQUEST, "store.constraint" }, /* foreign_key_violation */
    { "23000", ERROR_REQUEST, "store.constraint" }, /* integrity_constraint_violation */
    { "22021", ERROR_DATA, "store.text" },          /* character_not_in_repertoire */
    { "22P05", ERROR_DATA, "store.text" },          /* untranslatable_character */
    { "22003", ERROR_REQUEST, "store.value" },      /* numeric_value_out_of_range */
    { "22P02", ERROR_REQUEST, "store.value" },      /* invalid_text_representation */
    { "3D000", ERROR_REQUEST, "store.missing" },    /* invalid_catalog_name */
    { "28P01", ERROR_FATAL, "store.auth" },         /* invalid_password */
    { "28000", ERROR_FATAL, "store.auth" },         /* invalid_authorization_specification */
    { "42501", ERROR_FATAL, "store.auth" },         /* insufficient_privilege */
    { "25006", ERROR_TRANSIENT, "store.lost" },     /* read_only_sql_transaction: a failover */
    { "42P01", ERROR_FATAL, "store.schema" },       /* undefined_table */
    { "42703", ERROR_FATAL, "store.schema" },       /* undefined_column */
    { "42601", ERROR_FATAL, "store.statement" },    /* syntax_error */
    { "25P02", ERROR_FATAL, "store.statement" },    /* in_failed_sql_transaction */
    { "XX001", ERROR_FATAL, "store.corrupt" },      /* data_corrupted */
    { "99999", ERROR_FATAL, "store.statement" },
};

TEST(sqlstates_become_levels)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *name = "";

        CHECK_EQ(postgres_error_level(cases[i].state, &name), cases[i].level, cases[i].state);
        CHECK_STR(str_of(name), str_of(cases[i].name), cases[i].state);
    }
}
