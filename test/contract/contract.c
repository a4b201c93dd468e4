/* What the fixtures of all databases share: stores and an arena per test, and processes. */
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STORES_MAX = 16, ARENA_MAX = 256 << 20 };

static struct {
    struct store *stores[STORES_MAX];
    size_t count;
    struct arena arena;
    const char *dsn; /* that was opened last */
} open_now;

static struct store *keep(struct store *store)
{
    if (open_now.count == STORES_MAX)
        abort();
    open_now.stores[open_now.count++] = store;
    return store;
}

struct store *contract_open_owner(const char *dsn)
{
    const struct store_options options = { .create = true, .busy_timeout_us = 60000000 };
    struct store *store = NULL;
    struct error err = { 0 };

    REQUIRE_OK(store_open(str_of(dsn), &options, &store, &err), err);
    return store;
}

struct store *contract_open(const char *dsn)
{
    open_now.dsn = dsn;
    return contract_open_owner(contract_as_roles(dsn));
}

struct store *contract_owner(void)
{
    return keep(contract_open_owner(open_now.dsn));
}

struct store *contract_another(struct store *store)
{
    struct store *session = NULL;
    struct error err = { 0 };

    REQUIRE_OK(store_another(store, &session, &err), err);
    return keep(session);
}

struct store *contract_store(void)
{
    return keep(contract_open(contract_ready_database()));
}

struct arena *contract_arena(void)
{
    if (open_now.arena.limit == 0)
        arena_init(&open_now.arena, ARENA_MAX);
    return &open_now.arena;
}

void contract_end(void)
{
    while (open_now.count > 0)
        store_close(open_now.stores[--open_now.count]);
    arena_release(&open_now.arena);
    open_now.arena = (struct arena){ 0 };
}

const char *contract_migrated(const char *dsn)
{
    struct store *store = contract_open_owner(dsn);
    struct error err = { 0 };
    int64_t taken;

    REQUIRE_OK(store_migrate(store, NOW_US, &taken, &err), err);
    store_close(store);
    contract_grant(dsn);
    return dsn;
}

static void run_child(int index, int gate, int (*work)(int, const char *), const char *dsn)
{
    char byte;
    int result;

    while (read(gate, &byte, 1) > 0) /* ends when the parent closes its end: all are there */
        ;
    result = work(index, dsn);
    (void)fflush(stdout);
    _exit(result < 0 || result > 100 ? 255 : result);
}

int contract_processes(int count, int (*work)(int index, const char *dsn), const char *dsn)
{
    int gate[2], sum = 0;

    if (pipe(gate) != 0)
        abort();
    (void)fflush(stdout);
    for (int i = 0; i < count; i++) {
        const pid_t pid = fork();

        if (pid < 0)
            abort();
        if (pid == 0) {
            (void)close(gate[1]);
            run_child(i, gate[0], work, dsn);
        }
    }
    (void)close(gate[0]);
    (void)close(gate[1]);
    for (int i = 0; i < count; i++) {
        int status;

        if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > 100)
            sum = -1;
        else if (sum >= 0)
            sum += WEXITSTATUS(status);
    }
    return sum;
}
