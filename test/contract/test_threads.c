/* Sessions of one database, each with a thread of its own. */
#include <pthread.h>

#include "contract.h"
#include "rows.h"

enum { THREADS = 4, STEPS = 25, ARENA_MAX = 1 << 20 };

struct worker {
    struct store *store;
    bool ok;
    struct error err;
};

/* Moves the cursor on by one, STEPS times, trying again whenever somebody else was first. */
static void *advance(void *context)
{
    const struct cursor_name name = rows_cursor_name();
    struct worker *worker = context;
    struct arena arena;
    int moves = 0;

    arena_init(&arena, ARENA_MAX);
    worker->ok = true;
    while (worker->ok && moves < STEPS) {
        struct cursor_move move = { .expr_hash = STR(HASH_A), .now_us = NOW_US };
        struct cursor cursor;
        bool found, moved = false;

        arena_reset(&arena);
        worker->ok = store_begin(worker->store, &worker->err);
        if (!worker->ok)
            break;
        worker->ok = store_cursor_load(worker->store, &arena, &name, &cursor, &found, &worker->err);
        move.to =
            (struct cursor_value){ .type = CURSOR_TIME, .instant_us = cursor.value.instant_us + 1 };
        worker->ok =
            worker->ok && store_cursor_move(worker->store, &cursor, &move, &moved, &worker->err);
        worker->ok = worker->ok && store_commit(worker->store, &worker->err);
        if (!worker->ok)
            store_rollback(worker->store);
        moves += moved;
    }
    arena_release(&arena);
    return NULL;
}

TEST(threads_with_sessions_of_their_own_lose_no_step)
{
    struct store *store = contract_store();
    const struct cursor_name name = rows_cursor_name();
    struct worker workers[THREADS] = { 0 };
    pthread_t threads[THREADS];
    struct cursor cursor;
    struct error err = { 0 };
    bool found;

    for (int i = 0; i < THREADS; i++) {
        workers[i].store = contract_another(store);
        REQUIRE(pthread_create(&threads[i], NULL, advance, &workers[i]) == 0, "a thread");
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK(workers[i].ok, workers[i].err.text);
    }
    REQUIRE_OK(store_cursor_load(store, contract_arena(), &name, &cursor, &found, &err), err);
    CHECK_EQ(cursor.value.instant_us, THREADS * STEPS, "every step counted once");
    CHECK_EQ(cursor.version, THREADS * STEPS, "every step counted once");
    contract_end();
}
