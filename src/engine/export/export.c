/* Runs an export: pages of records, or of events and their records. */
#include "engine/export/export.h"

#include <inttypes.h>

#include "base/list.h"
#include "engine/export/field_reader.h"
#include "engine/export/settled.h"
#include "engine/export/token.h"
#include "port/store_prune.h"

/* A page: its records, and what fields are derived with. */
#define PAGE_ARENA_MAX ((size_t)1 << 30)

/* What fields are read with is many times as large as a payload. */
enum {
    PAGE_BYTES = 2 << 20,
    PAGE_BYTES_FIELDS = 1 << 18,
    PAGE_RECORDS_FIRST = 32,
    PAGE_RECORDS_MAX = 1000,
};

struct exporting {
    const struct export_request *request;
    struct arena *arena; /* the caller's */
    struct arena page;
    struct field_reader fields;
    bool with_fields;
    struct export_writer writer;
    struct export_result *result;
    int64_t limit; /* of records in the next page */
};

/* ---- records ---- */

static bool derive(struct exporting *x, const struct record_entry *entry, struct export_item *item,
                   struct error *err)
{
    struct derived_fields fields;

    if (!field_reader_read(&x->fields, &x->page, entry, &fields, err))
        return false;
    item->fields = fields.json;
    if (fields.json.len > 0)
        return true;
    if (x->result->unread++ == 0)
        x->result->unread_example = arena_printf(
            x->arena, "%.*s: %.*s", STR_ARG(entry->provider_id), STR_ARG(fields.missing));
    return !x->arena->failed || arena_error(x->arena, err);
}

static bool add(struct exporting *x, const struct record_entry *entry, struct error *err)
{
    struct export_item item = { .entry = entry, .arena = &x->page };

    if (x->with_fields && !entry->is_deleted && !derive(x, entry, &item, err))
        return false;
    x->result->records++;
    x->result->deleted += entry->is_deleted;
    return export_writer_add(&x->writer, &item, err);
}

static int64_t page_bytes(const struct exporting *x)
{
    return x->with_fields ? PAGE_BYTES_FIELDS : PAGE_BYTES;
}

/* Pages of large records have few of them: PostgreSQL sends a page as a whole. */
static void fit(struct exporting *x, size_t count, int64_t bytes)
{
    const int64_t each = count > 0 ? bytes / (int64_t)count + 1 : 1;

    x->limit = page_bytes(x) / each;
    if (x->limit < 1)
        x->limit = 1;
    if (x->limit > PAGE_RECORDS_MAX)
        x->limit = PAGE_RECORDS_MAX;
    x->result->bytes = x->writer.bytes + (int64_t)x->writer.out.len;
    if (x->request->listener != NULL)
        x->request->listener->page(x->request->listener, x->result);
}

/* A record whose fields need not be read is written while the store has it at hand: its payload is
 * not copied. To read fields, the store may be asked for an expression. */
struct adding {
    struct record_taker taker; /* first */
    struct exporting *x;
    int64_t bytes;
};

static bool take(struct record_taker *taker, const struct record_entry *entry, struct error *err)
{
    struct adding *adding = (struct adding *)taker;

    adding->bytes += entry->bytes;
    return add(adding->x, entry, err);
}

static bool export_all(struct exporting *x, struct error *err)
{
    struct adding adding = { .taker = { take }, .x = x };
    struct record_walk walk = x->request->walk;
    struct record_entry_list list = { 0 };
    struct str endpoint = { 0 };

    walk.with_payload = true;
    walk.bytes_max = page_bytes(x);
    walk.taker = x->with_fields ? NULL : &adding.taker;
    while (!list.is_end) {
        adding.bytes = 0;
        arena_reset(&x->page);
        walk.limit = x->limit;
        if (!store_record_walk(x->request->store, &x->page, &walk, &list, err))
            return false;
        for (size_t i = 0; x->with_fields && i < list.count; i++) {
            if (!take(&adding.taker, &list.items[i], err))
                return false;
        }
        if (list.count > 0) {
            const struct record_entry *last = &list.items[list.count - 1];

            /* The name must outlive the page; there are few endpoints. */
            if (!str_eq(endpoint, last->endpoint))
                endpoint = arena_copy(x->arena, last->endpoint);
            walk.after = (struct record_place){ endpoint, last->id };
        }
        if (x->arena->failed)
            return arena_error(x->arena, err);
        fit(x, list.count, adding.bytes);
    }
    return true;
}

/* ---- changes ---- */

static bool export_page(struct exporting *x, const struct record_changed_list *changes,
                        struct error *err)
{
    struct record_entry *entries =
        ARENA_ARRAY(&x->page, struct record_entry, changes->count > 0 ? changes->count : 1);
    int64_t bytes = 0;

    if (entries == NULL)
        return arena_error(&x->page, err);
    if (!store_record_as_of(x->request->store, &x->page, x->request->walk.source, changes, entries,
                            err))
        return false;
    for (size_t i = 0; i < changes->count; i++) {
        bytes += entries[i].bytes;
        if (entries[i].id != 0 && !add(x, &entries[i], err))
            return false;
    }
    fit(x, changes->count, bytes);
    return true;
}

static bool export_changes(struct exporting *x, int64_t after, int64_t upto, struct error *err)
{
    struct record_change_walk walk = { .source = x->request->walk.source,
                                       .endpoint = x->request->walk.endpoint,
                                       .after = after,
                                       .upto = upto };
    struct record_changed_list changes;

    do {
        arena_reset(&x->page);
        walk.limit = x->limit;
        if (!store_record_changes(x->request->store, &x->page, &walk, &changes, err))
            return false;
        if (changes.count > 0)
            walk.after = changes.items[changes.count - 1].event;
        if (!export_page(x, &changes, err))
            return false;
    } while ((int64_t)changes.count == walk.limit);
    return true;
}

/* ---- the whole ---- */

/* A field that two endpoints give different types has none: it is then as found. */
static void join_types(struct export_column *column, const struct spec_field *field)
{
    if (column->type == field->type && column->is_list == field->is_list)
        return;
    column->type = FIELD_ANY;
    column->is_list = false;
}

static bool add_column(struct exporting *x, struct export_columns *columns,
                       const struct spec_field *field)
{
    struct export_column *column;

    for (size_t i = 0; i < columns->count; i++) {
        if (str_eq(columns->items[i].name, field->name)) {
            join_types(&columns->items[i], field);
            return true;
        }
    }
    column = LIST_ADD(x->arena, columns);
    if (column != NULL)
        *column = (struct export_column){ field->name, field->type, field->is_list };
    return column != NULL;
}

/* The fields of all mappings that read records of the endpoint, or of any. */
static bool columns_of(struct exporting *x, struct export_columns *columns, struct error *err)
{
    const struct mappings *mappings = x->fields.mappings;
    const struct str only = x->request->walk.endpoint;

    for (size_t i = 0; i < mappings->count; i++) {
        const struct mapping *mapping = &mappings->items[i];
        const struct spec_field_list *fields = &mapping->endpoint->response.fields;

        if (only.len > 0 && !str_eq(only, mapping->spec->endpoint.name) &&
            !str_eq(only, mapping->endpoint->name))
            continue;
        for (size_t k = 0; k < fields->count; k++) {
            if (!add_column(x, columns, &fields->items[k]))
                return arena_error(x->arena, err);
        }
    }
    return true;
}

static bool open_all(struct exporting *x, struct error *err)
{
    const struct export_request *request = x->request;
    struct export_shape shape = { .source = request->walk.source,
                                  .with_fields = x->with_fields,
                                  .codec = request->codec };

    if (x->with_fields &&
        (!field_reader_open(&x->fields,
                            &(struct field_reader_request){ .store = request->store,
                                                            .source = request->walk.source,
                                                            .now_us = clock_now_us(request->clock),
                                                            .specs = request->specs },
                            err) ||
         !columns_of(x, &shape.columns, err)))
        return false;
    return export_writer_open(&x->writer, request->format, &shape, request->sink, err);
}

/* Where it begins, how far it goes, and what the next one is given. */
struct span {
    int64_t after;
    int64_t upto;
};

/* Events after the token must all be there; before the export, and after it, because they are
 * removed while it runs, too. */
static bool check_pruned(struct exporting *x, const struct span *span, struct error *err)
{
    int64_t pruned;

    if (x->request->since.len == 0)
        return true;
    if (!store_prune_last(x->request->store, &pruned, err))
        return false;
    return pruned <= span->after ||
           error_set(err, ERROR_REQUEST, "export.token",
                     "the token is too old: it is at event %" PRId64 ", and events up to %" PRId64
                     " have been removed; export everything to get a new one",
                     span->after, pruned);
}

static bool read_token(struct exporting *x, struct export_token *token, struct span *span,
                       struct error *err)
{
    const struct export_request *request = x->request;
    const struct settled_request settle = { request->store, request->clock, request->wait_us };
    struct settled settled;

    *token =
        (struct export_token){ .source = request->walk.source, .endpoint = request->walk.endpoint };
    if (!store_identity(request->store, x->arena, &token->store, err) ||
        (request->since.len > 0 && !export_token_read(request->since, token, &span->after, err)) ||
        !settled_wait(x->arena, &settle, &settled, err))
        return false;
    if (span->after > settled.last)
        return error_set(err, ERROR_REQUEST, "export.token",
                         "the token is at event %" PRId64 ", the store at %" PRId64
                         ": the store is an older copy; export everything to get a new one",
                         span->after, settled.last);
    if (!check_pruned(x, span, err))
        return false;
    span->upto = settled.last;
    x->result->is_settled = settled.is_settled;
    token->after = settled.is_settled ? settled.last : span->after;
    return true;
}

static bool run(struct exporting *x, struct error *err)
{
    const struct export_request *request = x->request;
    struct export_token token;
    struct span span = { 0 };

    if (request->with_token && !read_token(x, &token, &span, err))
        return false;
    if (!store_record_read_once(request->store, err) || !open_all(x, err))
        return false;
    if (request->since.len > 0 ? !export_changes(x, span.after, span.upto, err)
                               : !export_all(x, err))
        return false;
    if (!check_pruned(x, &span, err))
        return false;
    if (!export_writer_end(&x->writer, err))
        return false;
    x->result->bytes = x->writer.bytes;
    if (request->with_token)
        x->result->token = export_token_text(x->arena, &token);
    return !x->arena->failed || arena_error(x->arena, err);
}

bool export_run(struct arena *arena, const struct export_request *request,
                struct export_result *result, struct error *err)
{
    struct exporting x = { .request = request,
                           .arena = arena,
                           .with_fields = request->fields_only || request->format->needs_fields,
                           .result = result,
                           .limit = PAGE_RECORDS_FIRST };
    bool ok;

    *result = (struct export_result){ .is_settled = true };
    arena_init(&x.page, PAGE_ARENA_MAX);
    ok = run(&x, err);
    export_writer_close(&x.writer);
    field_reader_close(&x.fields);
    arena_release(&x.page);
    return ok || error_wrap(err, "export %.*s", STR_ARG(request->walk.source));
}
