/* store_token: who may call the HTTP API, and what was answered to calls that must not be made
 * twice.
 *
 * A token is known by its selector, which is no secret; of the secret there is only a hash
 * (engine/token/token.h). A token is never deleted: whatever was done with it names it.
 */
#ifndef PATRA_PORT_STORE_TOKEN_H
#define PATRA_PORT_STORE_TOKEN_H

#include "core/token_scope.h"
#include "port/store.h"

struct token_row {
    struct str selector;
    struct str name; /* of at most one token that is not revoked */
    struct str hash; /* of the secret: lower-case hex */
    enum token_scope scope;
    struct str created_by;
    int64_t created_us;
    int64_t expires_us; /* 0: never */
    int64_t revoked_us; /* 0: it is not */
    struct str revoked_by;
};

struct token_row_list {
    struct token_row *items;
    size_t count;
};

struct token_revocation {
    struct str name;
    struct str by;
    int64_t now_us;
};

/* What was answered to a request that has a key of its own (Idempotency-Key). */
struct token_answer {
    struct str selector; /* of the token that asked */
    struct str key;
    struct str request_hash; /* the same key with another request is a mistake */
    int64_t status;          /* 0: it is being made */
    struct str body;
    int64_t created_us;
};

#define TOKEN_ANSWER_STALE_US (5 * INT64_C(60000000))
#define TOKEN_ANSWER_KEPT_US (24 * INT64_C(3600000000))

struct store_token_ops {
    bool (*add)(struct store *store, const struct token_row *token, bool *added, struct error *err);
    bool (*find)(struct store *store, struct arena *arena, struct str selector,
                 struct token_row *token, bool *found, struct error *err);
    bool (*list)(struct store *store, struct arena *arena, struct token_row_list *list,
                 struct error *err);
    bool (*revoke)(struct store *store, const struct token_revocation *revocation, bool *revoked,
                   struct error *err);
    bool (*answer_begin)(struct store *store, struct arena *arena,
                         const struct token_answer *wanted, struct token_answer *found, bool *begun,
                         struct error *err);
    bool (*answer_end)(struct store *store, const struct token_answer *answer, struct error *err);
    bool (*answer_forget)(struct store *store, const struct token_answer *answer,
                          struct error *err);
};

/* *added is false when a token of this name is in force. */
static inline bool MUST_CHECK store_token_add(struct store *store, const struct token_row *token,
                                              bool *added, struct error *err)
{
    return store->token->add(store, token, added, err);
}

static inline bool MUST_CHECK store_token_find(struct store *store, struct arena *arena,
                                               struct str selector, struct token_row *token,
                                               bool *found, struct error *err)
{
    return store->token->find(store, arena, selector, token, found, err);
}

/* All, in the order of their making. */
static inline bool MUST_CHECK store_token_list(struct store *store, struct arena *arena,
                                               struct token_row_list *list, struct error *err)
{
    return store->token->list(store, arena, list, err);
}

static inline bool MUST_CHECK store_token_revoke(struct store *store,
                                                 const struct token_revocation *revocation,
                                                 bool *revoked, struct error *err)
{
    return store->token->revoke(store, revocation, revoked, err);
}

/* Of all that begin an answer under one key at once, one has *begun, and must end or forget it; the
 * others get what is there. One that has been under way for TOKEN_ANSWER_STALE_US is taken over:
 * whoever made it died. Answers older than TOKEN_ANSWER_KEPT_US are forgotten on the way. */
static inline bool MUST_CHECK store_token_answer_begin(struct store *store, struct arena *arena,
                                                       const struct token_answer *wanted,
                                                       struct token_answer *found, bool *begun,
                                                       struct error *err)
{
    return store->token->answer_begin(store, arena, wanted, found, begun, err);
}

static inline bool MUST_CHECK store_token_answer_end(struct store *store,
                                                     const struct token_answer *answer,
                                                     struct error *err)
{
    return store->token->answer_end(store, answer, err);
}

/* The request may be made again: it was not answered for good. */
static inline bool MUST_CHECK store_token_answer_forget(struct store *store,
                                                        const struct token_answer *answer,
                                                        struct error *err)
{
    return store->token->answer_forget(store, answer, err);
}

#endif
