/* record_names: the numbers that the rows of records have instead of texts: of an endpoint, and of
 * the expression that read them.
 *
 * They are added with the first record that needs them, and never change. So a session remembers
 * those that it used last, and asks the database only when another task begins; what was added in a
 * transaction that is rolled back is forgotten with it.
 */
#ifndef PATRA_ADAPTER_SQL_RECORD_NAMES_H
#define PATRA_ADAPTER_SQL_RECORD_NAMES_H

#include "adapter/sql/session.h"
#include "port/store_record.h"

/* For statements that read: the endpoint, and the expression, of these values or columns. */
#define ENDPOINT_ID(source, endpoint)                                              \
    "(SELECT e.id FROM ing_record_endpoint AS e WHERE e.provenance_code = " source \
    " AND e.endpoint_name = " endpoint ")"
#define EXPR_ID(hash) "(SELECT x.id FROM ing_record_expr AS x WHERE x.expr_hash = " hash ")"
#define EXPR_HASH(id) "(SELECT x.expr_hash FROM ing_record_expr AS x WHERE x.id = " id ")"

struct record_names {
    int64_t endpoint; /* 0: it has no records */
    int64_t expr;     /* 0: no record was read by it */
};

bool record_names_find(struct store *store, const struct record_context *context,
                       struct record_names *names, struct error *err) MUST_CHECK;
/* In a transaction: those that are missing are added. */
bool record_names_make(struct store *store, const struct record_context *context,
                       struct record_names *names, struct error *err) MUST_CHECK;
bool record_expr_make(struct store *store, struct str expr_hash, int64_t *id,
                      struct error *err) MUST_CHECK;

#endif
