#include "adapter/postgres/postgres.h"
#include "port/store_quota.h"

enum { LOAD_RATE_KEY = 1, LOAD_WINDOW, LOAD_FROM };
static const char LOAD[] = "SELECT operation_code, used, reserved FROM ing_rate_quota"
                           " WHERE rate_key = $1 AND window_code = $2 AND window_from = $3";
enum { COL_OPERATION, COL_USED, COL_BOOKED };

static bool quota_load(struct store *store, const struct quota_name *name,
                       struct quota_count *count, struct error *err)
{
    struct query q;

    *count = (struct quota_count){ 0 };
    query_init(&q, postgres_store_of(store), LOAD);
    set_text(&q, LOAD_RATE_KEY, name->rate_key);
    set_code(&q, LOAD_WINDOW, &QUOTA_WINDOW_CODES, (int)name->window);
    set_time(&q, LOAD_FROM, name->from_us);
    while (query_row(&q)) {
        const int operation = get_code(&q, COL_OPERATION, &OPERATION_CODES);

        count->used[operation] = get_i64(&q, COL_USED);
        count->booked[operation] = get_i64(&q, COL_BOOKED);
    }
    return query_finish(&q, err) || error_wrap(err, "load quota %.*s", STR_ARG(name->rate_key));
}

enum { BOOK_RATE_KEY = 1, BOOK_WINDOW, BOOK_FROM, BOOK_OPERATION, BOOK_REQUESTS };
static const char BOOK[] =
    "INSERT INTO ing_rate_quota AS q (rate_key, window_code, window_from, operation_code, used,"
    " reserved) VALUES ($1, $2, $3, $4, 0, $5)"
    " ON CONFLICT (rate_key, window_code, window_from, operation_code)"
    " DO UPDATE SET reserved = q.reserved + $5";

static bool quota_book(struct store *store, const struct quota_name *name, enum operation operation,
                       int64_t requests, struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), BOOK);
    set_text(&q, BOOK_RATE_KEY, name->rate_key);
    set_code(&q, BOOK_WINDOW, &QUOTA_WINDOW_CODES, (int)name->window);
    set_time(&q, BOOK_FROM, name->from_us);
    set_code(&q, BOOK_OPERATION, &OPERATION_CODES, (int)operation);
    set_i64(&q, BOOK_REQUESTS, requests);
    return query_run(&q, &changes, err) ||
           error_wrap(err, "book quota %.*s", STR_ARG(name->rate_key));
}

const struct store_quota_ops POSTGRES_QUOTA = {
    .load = quota_load,
    .book = quota_book,
};
