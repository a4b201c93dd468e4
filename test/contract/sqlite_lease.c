/* What SQLite does to look at the queue, counted in instructions of its machine. */
#include <sqlite3.h>

#include "adapter/sqlite/sqlite.h"
#include "contract.h"
#include "port/store_lease.h"
#include "rows.h"

static int count_one(void *context)
{
    ++*(int64_t *)context;
    return 0;
}

static int64_t instructions_with(int64_t tasks)
{
    struct store *store = contract_store();
    sqlite3 *db = sqlite_session_of(sql_session_of(store))->db;
    const struct plan plan = rows_add_plan(store);
    struct partition_list list;
    struct error err = { 0 };
    int64_t count = 0;

    rows_add_tasks(store, &plan, tasks);
    REQUIRE(sqlite3_exec(db, "ANALYZE", NULL, NULL, NULL) == SQLITE_OK, "a person may run it");
    sqlite3_progress_handler(db, 1, count_one, &count);
    REQUIRE_OK(store_partition_list(store, contract_arena(), NOW_US + 1000, &list, &err), err);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    CHECK_EQ(list.count, 1, "one partition");
    contract_end();
    return count;
}

TEST(a_look_at_a_long_queue_is_as_cheap_as_at_a_short_one)
{
    const int64_t few = instructions_with(10), many = instructions_with(1000);

    CHECK(few > 0, "counted");
    if (many > few + few / 2)
        test_fail(__FILE__, __LINE__, "%lld instructions with 1,000 tasks, %lld with 10",
                  (long long)many, (long long)few);
}
