/* Tokens of the HTTP API, and the answers that are kept for them. */
#include "adapter/sql/session.h"
#include "port/store_token.h"

#define TOKEN_COLUMNS                                                              \
    "selector, name, secret_hash, scope_code, created_by, created_at, expires_at," \
    " revoked_at, revoked_by"

static void read_token(struct rows *rows, struct arena *arena, struct token_row *token)
{
    token->selector = rows_text(rows, arena);
    token->name = rows_text(rows, arena);
    token->hash = rows_text(rows, arena);
    token->scope = (enum token_scope)rows_code(rows, &TOKEN_SCOPE_CODES);
    token->created_by = rows_text(rows, arena);
    token->created_us = rows_i64(rows);
    token->expires_us = rows_i64(rows);
    token->revoked_us = rows_i64(rows);
    token->revoked_by = rows_text(rows, arena);
}

static const char ADD[] =
    "INSERT INTO sys_token (selector, name, secret_hash, scope_code, created_by, created_at,"
    " expires_at, revoked_by)"
    " VALUES (:selector, :name, :hash, :scope, :created_by, :created, :expires, '')"
    " ON CONFLICT DO NOTHING";

static bool token_add(struct store *store, const struct token_row *token, bool *added,
                      struct error *err)
{
    struct statement *st = statement_of(store, ADD);

    bind_text(st, ":selector", token->selector);
    bind_text(st, ":name", token->name);
    bind_text(st, ":hash", token->hash);
    bind_code(st, ":scope", &TOKEN_SCOPE_CODES, (int)token->scope);
    bind_text(st, ":created_by", token->created_by);
    bind_instant(st, ":created", token->created_us);
    bind_instant_opt(st, ":expires", token->expires_us != 0, token->expires_us);
    return statement_changed(st, added, err) ||
           error_wrap(err, "add token %.*s", STR_ARG(token->name));
}

static bool read_tokens(struct rows *rows, struct arena *arena, struct token_row_list *list,
                        struct error *err)
{
    struct token_row *token;

    *list = (struct token_row_list){ 0 };
    while ((token = ROWS_NEXT(rows, arena, list)) != NULL)
        read_token(rows, arena, token);
    return rows_finish(rows, err);
}

static const char FIND[] = "SELECT " TOKEN_COLUMNS " FROM sys_token WHERE selector = :selector";

static bool token_find(struct store *store, struct arena *arena, struct str selector,
                       struct token_row *token, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, FIND);
    struct token_row_list list;

    bind_text(st, ":selector", selector);
    if (!read_tokens(&st->rows, arena, &list, err))
        return error_wrap(err, "find a token");
    *found = list.count > 0;
    if (*found)
        *token = list.items[0];
    return true;
}

static const char LIST[] =
    "SELECT " TOKEN_COLUMNS " FROM sys_token ORDER BY created_at, selector{byte-order}";

static bool token_list(struct store *store, struct arena *arena, struct token_row_list *list,
                       struct error *err)
{
    struct statement *st = statement_of(store, LIST);

    return read_tokens(&st->rows, arena, list, err) || error_wrap(err, "list tokens");
}

static const char REVOKE[] = "UPDATE sys_token SET revoked_at = :now, revoked_by = :by"
                             " WHERE name = :name AND revoked_at IS NULL";

static bool token_revoke(struct store *store, const struct token_revocation *revocation,
                         bool *revoked, struct error *err)
{
    struct statement *st = statement_of(store, REVOKE);

    bind_text(st, ":name", revocation->name);
    bind_text(st, ":by", revocation->by);
    bind_instant(st, ":now", revocation->now_us);
    return statement_changed(st, revoked, err) ||
           error_wrap(err, "revoke token %.*s", STR_ARG(revocation->name));
}

/* ---- answers ---- */

static const char ANSWERS_FORGET_OLD[] = "DELETE FROM sys_answer WHERE created_at < :before";

static const char ANSWER_BEGIN[] =
    "INSERT INTO sys_answer (selector, answer_key, request_hash, status, body, created_at)"
    " VALUES (:selector, :key, :hash, 0, '', :now)"
    " ON CONFLICT (selector, answer_key) DO UPDATE SET created_at = :now"
    "   WHERE sys_answer.status = 0 AND sys_answer.created_at < :stale"
    "     AND sys_answer.request_hash = :hash";

static const char ANSWER_FIND[] = "SELECT request_hash, status, body, created_at FROM sys_answer"
                                  " WHERE selector = :selector AND answer_key = :key";

static bool read_answer(struct store *store, struct arena *arena, struct token_answer *answer,
                        struct error *err)
{
    struct statement *st = statement_of(store, ANSWER_FIND);

    bind_text(st, ":selector", answer->selector);
    bind_text(st, ":key", answer->key);
    if (rows_next(&st->rows)) {
        answer->request_hash = rows_text(&st->rows, arena);
        answer->status = rows_i64(&st->rows);
        answer->body = rows_text(&st->rows, arena);
        answer->created_us = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

static bool answer_begin(struct store *store, struct arena *arena,
                         const struct token_answer *wanted, struct token_answer *found, bool *begun,
                         struct error *err)
{
    struct statement *st = statement_of(store, ANSWERS_FORGET_OLD);
    int64_t forgotten;

    *found = *wanted;
    bind_instant(st, ":before", wanted->created_us - TOKEN_ANSWER_KEPT_US);
    if (!statement_run(st, &forgotten, err))
        return error_wrap(err, "forget old answers");
    st = statement_of(store, ANSWER_BEGIN);
    bind_text(st, ":selector", wanted->selector);
    bind_text(st, ":key", wanted->key);
    bind_text(st, ":hash", wanted->request_hash);
    bind_instant(st, ":now", wanted->created_us);
    bind_instant(st, ":stale", wanted->created_us - TOKEN_ANSWER_STALE_US);
    if (!statement_changed(st, begun, err))
        return error_wrap(err, "begin an answer");
    return *begun || read_answer(store, arena, found, err);
}

static const char ANSWER_END[] = "UPDATE sys_answer SET status = :status, body = :body"
                                 " WHERE selector = :selector AND answer_key = :key";

static bool answer_end(struct store *store, const struct token_answer *answer, struct error *err)
{
    struct statement *st = statement_of(store, ANSWER_END);
    int64_t changes;

    bind_text(st, ":selector", answer->selector);
    bind_text(st, ":key", answer->key);
    bind_i64(st, ":status", answer->status);
    bind_text(st, ":body", answer->body);
    return statement_run(st, &changes, err) || error_wrap(err, "keep an answer");
}

static const char ANSWER_FORGET[] = "DELETE FROM sys_answer"
                                    " WHERE selector = :selector AND answer_key = :key";

static bool answer_forget(struct store *store, const struct token_answer *answer, struct error *err)
{
    struct statement *st = statement_of(store, ANSWER_FORGET);
    int64_t changes;

    bind_text(st, ":selector", answer->selector);
    bind_text(st, ":key", answer->key);
    return statement_run(st, &changes, err) || error_wrap(err, "forget an answer");
}

const struct store_token_ops SQL_TOKEN = {
    .add = token_add,
    .find = token_find,
    .list = token_list,
    .revoke = token_revoke,
    .answer_begin = answer_begin,
    .answer_end = answer_end,
    .answer_forget = answer_forget,
};
