/* Words of the program that the database lacks. */
#include "adapter/sql/dictionary.h"

#include <assert.h>
#include <string.h>

#include "adapter/sql/session.h"
#include "core/codes.h"

enum { DICTIONARIES_MAX = 128, WORDS_MAX = 64, WORDS_ARENA_MAX = 1 << 20 };

struct seen { /* by dictionary and word */
    bool words[DICTIONARIES_MAX][WORDS_MAX];
};

static const char LIST[] = "SELECT type_code, item_code FROM sys_dict_item";

static void see(struct seen *seen, struct str type, struct str code)
{
    for (size_t i = 0; i < CODE_TABLE_COUNT; i++) {
        const int value = str_eq(CODE_TABLES[i]->type, type) ? code_find(CODE_TABLES[i], code) : -1;

        assert(i < DICTIONARIES_MAX);
        assert(value < WORDS_MAX);
        if (value >= 0)
            seen->words[i][value] = true;
    }
}

static bool load(struct store *store, struct seen *seen, struct error *err)
{
    struct statement *st = statement_of(store, LIST);
    struct arena arena;
    bool ok;

    memset(seen, 0, sizeof(*seen));
    arena_init(&arena, WORDS_ARENA_MAX);
    while (rows_next(&st->rows)) {
        const struct str type = rows_text(&st->rows, &arena);
        const struct str code = rows_text(&st->rows, &arena);

        see(seen, type, code);
        arena_reset(&arena);
    }
    ok = rows_finish(&st->rows, err);
    arena_release(&arena);
    return ok || error_wrap(err, "read the dictionaries");
}

bool sql_words(struct store *store, struct store_words *words, struct error *err)
{
    struct seen seen;

    *words = (struct store_words){ 0 };
    if (!load(store, &seen, err))
        return false;
    for (size_t i = 0; i < CODE_TABLE_COUNT; i++) {
        for (size_t k = 0; k < CODE_TABLES[i]->count; k++) {
            if (seen.words[i][k])
                continue;
            if (words->missing++ == 0) {
                words->type = CODE_TABLES[i]->type;
                words->code = CODE_TABLES[i]->items[k].code;
            }
        }
    }
    return true;
}

/* ---- restoring ---- */

static const char ADD_TYPE[] = "INSERT INTO sys_dict_type (type_code, meaning)"
                               " VALUES (:type, :meaning) ON CONFLICT DO NOTHING";

/* At its place in the dictionary, or after all others where a foreign word has that place. */
static const char ADD_ITEM[] =
    "INSERT INTO sys_dict_item (type_code, item_code, position, meaning)"
    " SELECT :type, :code,"
    "  CASE WHEN EXISTS (SELECT 1 FROM sys_dict_item WHERE type_code = :type"
    "                     AND position = :position)"
    "       THEN (SELECT max(position) + 1 FROM sys_dict_item WHERE type_code = :type)"
    "       ELSE :position END, :meaning ON CONFLICT DO NOTHING";

static bool add(struct store *store, const struct code_table *table, size_t k, int64_t *restored,
                struct error *err)
{
    struct statement *st = statement_of(store, ADD_TYPE);
    int64_t added;

    bind_text(st, ":type", table->type);
    bind_text(st, ":meaning", table->meaning);
    if (!statement_run(st, &added, err))
        return false;
    st = statement_of(store, ADD_ITEM);
    bind_text(st, ":type", table->type);
    bind_text(st, ":code", table->items[k].code);
    bind_i64(st, ":position", (int64_t)k);
    bind_text(st, ":meaning", table->items[k].meaning);
    if (!statement_run(st, &added, err))
        return false;
    *restored += added;
    return true;
}

static bool add_missing(struct store *store, int64_t *restored, struct error *err)
{
    struct seen seen;

    if (!load(store, &seen, err))
        return false;
    for (size_t i = 0; i < CODE_TABLE_COUNT; i++) {
        for (size_t k = 0; k < CODE_TABLES[i]->count; k++) {
            if (!seen.words[i][k] && !add(store, CODE_TABLES[i], k, restored, err))
                return false;
        }
    }
    return true;
}

bool sql_words_restore(struct store *store, int64_t *restored, struct error *err)
{
    *restored = 0;
    if (!store_begin(store, err))
        return false;
    if (!store_lock(store, STR("sys_dict_item"), err) || !add_missing(store, restored, err)) {
        store_rollback(store);
        return error_wrap(err, "restore the dictionaries");
    }
    return store_commit(store, err);
}
