/* Two small tables, each with a number per text. */
#include "adapter/sql/record_names.h"

#include <string.h>

/* A text of one part or of two. */
struct name {
    struct str parts[2]; /* data NULL: there is no second */
    const char *find;
    const char *add;
};

static const char FIND_ENDPOINT[] = "SELECT id FROM ing_record_endpoint"
                                    " WHERE provenance_code = :first AND endpoint_name = :second";
static const char ADD_ENDPOINT[] =
    "INSERT INTO ing_record_endpoint (provenance_code, endpoint_name) VALUES (:first, :second)"
    " ON CONFLICT DO NOTHING";
static const char FIND_EXPR[] = "SELECT id FROM ing_record_expr WHERE expr_hash = :first";
static const char ADD_EXPR[] =
    "INSERT INTO ing_record_expr (expr_hash) VALUES (:first) ON CONFLICT DO NOTHING";

static struct name endpoint_name(const struct record_context *context)
{
    return (struct name){ .parts = { context->source, context->endpoint },
                          .find = FIND_ENDPOINT,
                          .add = ADD_ENDPOINT };
}

static struct name expr_name(struct str expr_hash)
{
    return (struct name){ .parts = { expr_hash }, .find = FIND_EXPR, .add = ADD_EXPR };
}

/* ---- what the session remembers ---- */

static bool is_known(const struct known_name *known, const struct name *name)
{
    return known->id != 0 && str_eq((struct str){ known->text, known->lens[0] }, name->parts[0]) &&
           str_eq((struct str){ known->text + known->lens[0], known->lens[1] }, name->parts[1]);
}

/* One that is too long is asked for each time. */
static void remember(struct known_name *known, const struct name *name, int64_t id)
{
    size_t at = 0;

    known->id = 0;
    if (id == 0 || name->parts[0].len + name->parts[1].len > sizeof(known->text))
        return;
    for (size_t i = 0; i < 2; i++) {
        if (name->parts[i].len > 0)
            memcpy(known->text + at, name->parts[i].data, name->parts[i].len);
        known->lens[i] = name->parts[i].len;
        at += name->parts[i].len;
    }
    known->id = id;
}

/* ---- asking ---- */

static void bind_name(struct statement *st, const struct name *name)
{
    bind_text(st, ":first", name->parts[0]);
    if (name->parts[1].data != NULL)
        bind_text(st, ":second", name->parts[1]);
}

static bool find(struct store *store, const struct name *name, struct known_name *known,
                 int64_t *id, struct error *err)
{
    struct statement *st;

    *id = 0;
    if (is_known(known, name)) {
        *id = known->id;
        return true;
    }
    st = statement_of(store, name->find);
    bind_name(st, name);
    if (!rows_only_i64(&st->rows, id, err))
        return error_wrap(err, "number of %.*s", STR_ARG(name->parts[0]));
    remember(known, name, *id);
    return true;
}

/* Another session may be adding it: then this one waits, and has the other's. */
static bool make(struct store *store, const struct name *name, struct known_name *known,
                 int64_t *id, struct error *err)
{
    struct statement *st;

    if (!find(store, name, known, id, err))
        return false;
    if (*id != 0)
        return true;
    st = statement_of(store, name->add);
    bind_name(st, name);
    if (!statement_run(st, NULL, err))
        return error_wrap(err, "add %.*s", STR_ARG(name->parts[0]));
    sql_session_of(store)->names.is_new = true;
    return find(store, name, known, id, err);
}

bool record_names_find(struct store *store, const struct record_context *context,
                       struct record_names *names, struct error *err)
{
    struct session_names *known = &sql_session_of(store)->names;
    const struct name endpoint = endpoint_name(context);
    const struct name expr = expr_name(context->expr_hash);

    return find(store, &endpoint, &known->endpoint, &names->endpoint, err) &&
           find(store, &expr, &known->expr, &names->expr, err);
}

bool record_names_make(struct store *store, const struct record_context *context,
                       struct record_names *names, struct error *err)
{
    struct session_names *known = &sql_session_of(store)->names;
    const struct name endpoint = endpoint_name(context);

    return make(store, &endpoint, &known->endpoint, &names->endpoint, err) &&
           record_expr_make(store, context->expr_hash, &names->expr, err);
}

bool record_expr_make(struct store *store, struct str expr_hash, int64_t *id, struct error *err)
{
    const struct name expr = expr_name(expr_hash);

    return make(store, &expr, &sql_session_of(store)->names.expr, id, err);
}
