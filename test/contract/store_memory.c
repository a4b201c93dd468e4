/* Without memory for a statement, the call fails (L1) and nothing else: the next one succeeds.
 *
 * The linker has every call of malloc and realloc come here (--wrap).
 */
#include "contract.h"
#include "port/store_signal.h"

enum { SIGNALS = 100 };

static int fails_at; /* the call that fails, from 1; 0: none */

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool fails_now(void)
{
    return fails_at > 0 && --fails_at == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

static bool add_signals(struct store *store, int fails, int64_t *added, struct error *err)
{
    struct signal signals[SIGNALS];

    for (int i = 0; i < SIGNALS; i++)
        signals[i] = (struct signal){
            .source = STR("crossref"),
            .endpoint = STR("works"),
            .provider_id = arena_printf(contract_arena(), "10.1000/%d", i),
            .reason = STR("retracted"),
            .created_by = STR("cli"),
            .created_us = NOW_US,
        };
    fails_at = fails;
    return store_signal_add(store, signals, SIGNALS, added, err);
}

TEST(a_statement_without_memory_fails_and_the_next_use_does_not)
{
    static const char *const WHAT[] = { "itself", "its values", "its first cells", "more cells" };
    struct store *store = contract_store();
    int64_t added = 0;
    struct error err = { 0 };

    for (int i = 0; i < (int)ARRAY_LEN(WHAT); i++) {
        CHECK(!add_signals(store, i + 1, &added, &err), WHAT[i]);
        CHECK_EQ(fails_at, 0, WHAT[i]);
        CHECK_EQ(err.level, ERROR_TRANSIENT, WHAT[i]);
        CHECK_STR(str_of(err.code), STR("store.full"), WHAT[i]);
    }
    REQUIRE_OK(add_signals(store, 0, &added, &err), err);
    CHECK_EQ(added, SIGNALS, "no failure has left a row");
    contract_end();
}

TEST(a_list_without_memory_is_not_an_empty_list)
{
    struct store *store = contract_store();
    struct signal_list list;
    struct error err = { 0 };

    fails_at = 1;
    CHECK(!store_signal_list(store, contract_arena(), &(struct signal_filter){ .limit = 9 }, &list,
                             &err),
          "no rows are no success");
    CHECK_STR(str_of(err.code), STR("store.full"), "why");
    REQUIRE_OK(store_signal_list(store, contract_arena(), &(struct signal_filter){ .limit = 9 },
                                 &list, &err),
               err);
    contract_end();
}
