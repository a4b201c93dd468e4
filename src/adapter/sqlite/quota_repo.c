#include "adapter/sqlite/sqlite.h"
#include "port/store_quota.h"

static const char LOAD[] =
    "SELECT operation_code, used, reserved FROM ing_rate_quota"
    " WHERE rate_key = :rate_key AND window_code = :window AND window_from = :window_from";
enum { COL_OPERATION, COL_USED, COL_BOOKED };

static bool quota_load(struct store *store, const struct quota_name *name,
                       struct quota_count *count, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LOAD);

    *count = (struct quota_count){ 0 };
    bind_text(st, ":rate_key", name->rate_key);
    bind_code(st, ":window", &QUOTA_WINDOW_CODES, (int)name->window);
    bind_i64(st, ":window_from", name->from_us);
    while (statement_row(st)) {
        const int operation = column_code(st, COL_OPERATION, &OPERATION_CODES);

        count->used[operation] = column_i64(st, COL_USED);
        count->booked[operation] = column_i64(st, COL_BOOKED);
    }
    return statement_finish(st, err) || error_wrap(err, "load quota %.*s", STR_ARG(name->rate_key));
}

static const char BOOK[] =
    "INSERT INTO ing_rate_quota (rate_key, window_code, window_from, operation_code, used,"
    " reserved) VALUES (:rate_key, :window, :window_from, :operation, 0, :requests)"
    " ON CONFLICT (rate_key, window_code, window_from, operation_code)"
    " DO UPDATE SET reserved = reserved + :requests";

static bool quota_book(struct store *store, const struct quota_name *name, enum operation operation,
                       int64_t requests, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), BOOK);

    bind_text(st, ":rate_key", name->rate_key);
    bind_code(st, ":window", &QUOTA_WINDOW_CODES, (int)name->window);
    bind_i64(st, ":window_from", name->from_us);
    bind_code(st, ":operation", &OPERATION_CODES, (int)operation);
    bind_i64(st, ":requests", requests);
    return statement_run(st, err) || error_wrap(err, "book quota %.*s", STR_ARG(name->rate_key));
}

const struct store_quota_ops SQLITE_QUOTA = {
    .load = quota_load,
    .book = quota_book,
};
