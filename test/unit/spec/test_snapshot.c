/* Snapshots: their bytes and hashes, what changes them, and reading them back. */
#include "spec/snapshot.h"

#include "data/json.h"
#include "data/json_canonical.h"
#include "random_source.h"
#include "spec/spec.h"
#include "test.h"

static struct arena arena;

static void load(const char *path, struct source *source)
{
    struct fault_list faults;

    arena_release(&arena);
    arena_init(&arena, 64 << 20);
    fault_list_init(&faults, &arena);
    REQUIRE(source_read(&arena, &(struct source_text){ .file = test_read(path) }, &faults, source),
            path);
}

static struct snapshot snapshot_of(const struct source *source, const char *operation)
{
    const struct snapshot_request request = { .source = source, .operation = str_of(operation) };
    struct snapshot snapshot;
    struct error err;

    REQUIRE_OK(snapshot_make(&arena, &request, &snapshot, &err), err);
    return snapshot;
}

/* The digests were computed by Python's json and hashlib over the snapshot that `patra source show
 * --json` prints: sha256(json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"),
 * ensure_ascii=False)).
 * A change of a shipped source or of a built-in changes them, and is seen here. */
TEST(snapshots_of_the_shipped_sources_have_the_digests_computed_elsewhere)
{
    static const struct {
        const char *file, *operation, *fingerprint;
    } known[] = {
        { "sources/crossref.yaml", "harvest",
          "43572d2fd52fbdf9f795ff4986367ade701ab731ec14adbb0d9dfbaf3e775031" },
        { "sources/crossref.yaml", "update",
          "f689b381a8503a0fe815566ac60f5c30266688aaed2eb4862143b6847c781046" },
        { "sources/pubmed.yaml", "harvest",
          "d7f544f724aa7423558566739ab4918a683171a28acafdba444f4e331001fff3" },
        { "sources/pubmed.yaml", "update",
          "f3c2bdb4114d2a96d819610b5175de6cbacc8cc28a499019ca5e8ba9f8804596" },
    };
    struct source source;

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        load(known[i].file, &source);
        CHECK_STR(str_of(snapshot_of(&source, known[i].operation).fingerprint),
                  str_of(known[i].fingerprint), known[i].file);
    }
    arena_release(&arena);
}

TEST(a_snapshot_is_canonical_and_has_references_only)
{
    struct source source;
    struct snapshot snapshot;
    struct str again;
    struct error err;

    load("sources/pubmed.yaml", &source);
    snapshot = snapshot_of(&source, "harvest");
    REQUIRE_OK(json_canonical_text(&arena, snapshot.json, &again, &err), err);
    CHECK_STR(again, snapshot.json, "canonical");
    CHECK(str_find(snapshot.json, STR("env:NCBI_API_KEY")) < snapshot.json.len, "the reference");
    CHECK(str_find(snapshot.json, STR("Citations and abstracts")) == snapshot.json.len,
          "not what is only about the source");
    CHECK(str_find(snapshot.json, STR("\"every")) == snapshot.json.len, "not the schedule");
    arena_release(&arena);
}

TEST(the_order_of_rows_and_their_places_do_not_matter)
{
    struct source source, turned;
    struct snapshot first, second;

    load("sources/pubmed.yaml", &source);
    first = snapshot_of(&source, "harvest");
    turned = (struct source){ .registry = source.registry };
    turned.registry.rows = ARENA_ARRAY(&arena, struct registry_row, source.registry.count);
    for (size_t i = 0; i < source.registry.count; i++) {
        turned.registry.rows[i] = source.registry.rows[source.registry.count - 1 - i];
        turned.registry.rows[i].id = (int64_t)i + 1;
        turned.registry.rows[i].version = 9;
    }
    second = snapshot_of(&turned, "harvest");
    CHECK_STR(second.json, first.json, "the same bytes");
    arena_release(&arena);
}

TEST(what_is_requested_has_a_hash_of_its_own)
{
    static const struct {
        const char *path;
        const char *value;
        bool changes_query, changes_mapping;
    } edits[] = {
        { "page.size", "200", false, false },
        { "rate.per_second", "2", false, false },
        { "window.lag", "1h", false, false },
        { "retry.max_attempts", "2", false, false },
        { "response.items", "$.x", true, false },
        { "page.next", "$.y", true, false },
        { "path", "/other", true, false },
        { "response.id_case", "keep", true, false },
        { "http.base_url", "https://other.example", true, false },
        { "window.client_filter", "true", true, false },
        { "response.updated_at", "$.z", false, true },
        { "response.deleted", "$.gone", false, true },
    };
    struct fault_list faults;
    struct source source;
    struct snapshot before, after;

    for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
        const struct setting *setting = setting_find(AT_ENDPOINT, str_of(edits[i].path));
        const struct value_reader reader = { &arena, &faults, { 0 }, STR("x"), setting };
        struct random_source editor = { .arena = &arena };
        struct registry_value value;

        load("sources/crossref.yaml", &source);
        before = snapshot_of(&source, "harvest");
        fault_list_init(&faults, &arena);
        REQUIRE(setting_read_text(&reader, str_of(edits[i].value), &value), edits[i].path);
        editor.source = (struct source){ .registry = source.registry };
        editor.source.registry.rows = ARENA_ARRAY(&arena, struct registry_row, SOURCE_ROWS_MAX);
        memcpy(editor.source.registry.rows, source.registry.rows,
               source.registry.count * sizeof(struct registry_row));
        random_set(&editor, setting, STR("works"),
                   setting->key != NULL ? str_of(setting->key) : STR(""), 0, value);
        after = snapshot_of(&editor.source, "harvest");
        CHECK(strcmp(before.fingerprint, after.fingerprint) != 0, edits[i].path);
        CHECK_EQ(strcmp(before.query_hash, after.query_hash) != 0, edits[i].changes_query,
                 edits[i].path);
        CHECK_EQ(strcmp(before.mapping_hash, after.mapping_hash) != 0, edits[i].changes_mapping,
                 edits[i].path);
        CHECK_EQ(strcmp(before.expr_proto_hash, after.expr_proto_hash) != 0,
                 edits[i].changes_query || edits[i].changes_mapping, edits[i].path);
    }
    arena_release(&arena);
}

/* ---- the property: the fingerprint changes exactly when a value in effect does ---- */

/* A model of what is in effect for "harvest" of a random source, written down line by line. It goes
 * its own way: no resolver, no writer, only the rows and the table. */
static const struct registry_row *row_at(const struct source *source, enum registry_table_id table,
                                         struct str endpoint, struct str key)
{
    for (size_t i = 0; i < source->registry.count; i++) {
        const struct registry_row *row = &source->registry.rows[i];

        if (row->table == table && str_eq(row->endpoint, endpoint) && str_eq(row->key, key))
            return row;
    }
    return NULL;
}

static void model_value(struct buf *out, const char *path, const struct setting *setting,
                        const struct registry_value *value)
{
    buf_printf(out, "%s=", path);
    switch (setting_storage(setting)) {
    case REGISTRY_TEXT:
    case REGISTRY_JSON:
        buf_printf(out, "%.*s\n", STR_ARG(value->text));
        break;
    case REGISTRY_REAL:
        buf_printf(out, "%.17g\n", value->real);
        break;
    default:
        buf_printf(out, "%lld\n", (long long)value->number);
        break;
    }
}

/* Nearest row first; NULL when no row says anything. */
static const struct registry_value *model_said(const struct source *source,
                                               const struct setting *setting, struct str endpoint,
                                               struct str operation)
{
    const struct str key = setting->key != NULL ? str_of(setting->key) : STR("");
    const struct str places[] = { endpoint, STR("") };
    const int column = registry_column(setting->table, str_of(setting->column));

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const bool is_operation = setting->at == AT_OPERATION;
        const struct registry_row *row = is_operation
                                             ? row_at(source, setting->table, STR(""), operation)
                                             : row_at(source, setting->table, places[i], key);

        if (row != NULL && row->values[column].is_set &&
            (is_operation || i == 0 || (setting->at & AT_SOURCE) != 0))
            return &row->values[column];
    }
    return NULL;
}

/* What a HARVEST is where nothing is said. */
static struct registry_value model_builtin(const struct setting *setting)
{
    static const struct {
        const char *path;
        struct registry_value value;
    } harvest[] = {
        { "priority", { .is_set = true, .number = 10 } },
        { "namespace", { .is_set = true, .text = STR_INIT("EXPR") } },
        { "direction", { .is_set = true, .text = STR_INIT("FORWARD") } },
        { "cursor", { .is_set = true, .text = STR_INIT("TIME") } },
        { "slice.by", { .is_set = true, .text = STR_INIT("TIME") } },
    };
    struct registry_value builtin;

    for (size_t i = 0; i < ARRAY_LEN(harvest); i++) {
        if (strcmp(harvest[i].path, setting->path) == 0)
            return harvest[i].value;
    }
    REQUIRE(setting_builtin(&arena, setting, &builtin), setting->path);
    return builtin;
}

static bool model_is(const struct source *source, const char *path, const char *word,
                     struct str endpoint, struct str operation)
{
    const struct setting *setting = setting_find(AT_ENDPOINT, str_of(path));
    const struct registry_value *said = model_said(source, setting, endpoint, operation);

    return said != NULL && str_eq(said->text, str_of(word));
}

/* What a HARVEST is where nothing is said, by what its endpoint is: its cursor is of the window's
 * type; a feed, or files, are one slice each. */
static struct registry_value model_default(const struct source *source,
                                           const struct setting *setting, struct str endpoint,
                                           struct str operation)
{
    const struct setting *type = setting_find(AT_ENDPOINT, STR("window.type"));
    const struct registry_value *said = model_said(source, type, endpoint, operation);

    if (strcmp(setting->path, "slice.by") == 0 &&
        model_is(source, "role", "BULK", endpoint, operation))
        return (struct registry_value){ .is_set = true, .text = STR("FILE") };
    if (said == NULL || str_eq(said->text, STR("TIME")))
        return model_builtin(setting);
    if (strcmp(setting->path, "cursor") == 0)
        return *said;
    if (strcmp(setting->path, "slice.by") == 0)
        return (struct registry_value){ .is_set = true, .text = STR("FEED") };
    return model_builtin(setting);
}

static void model_single(struct buf *out, const struct source *source, struct str endpoint,
                         struct str operation, const char *block)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *setting = &SETTINGS[i];
        const bool is_endpoint = (setting->at & AT_ENDPOINT) != 0;
        const struct registry_value *said;
        struct registry_value builtin;
        char path[128];

        if (strchr(setting->path, '*') != NULL || setting->is_about ||
            (!is_endpoint && setting->at != AT_OPERATION) ||
            (strcmp(block, "detail") == 0 &&
             (!is_endpoint || strncmp(setting->path, "window.", 7) == 0)))
            continue;
        said = model_said(source, setting, endpoint, operation);
        builtin = model_default(source, setting, endpoint, operation);
        (void)snprintf(path, sizeof(path), "%s.%s", block, setting->path);
        if (said == NULL && builtin.is_set)
            said = &builtin;
        if (said != NULL)
            model_value(out, path, setting, said);
    }
}

static bool is_hidden(const struct source *source, const struct registry_row *row,
                      struct str endpoint)
{
    for (size_t i = 0; i < source->registry.count; i++) {
        const struct registry_row *other = &source->registry.rows[i];

        if (other->table == row->table && str_eq(other->endpoint, endpoint) &&
            (str_starts(row->key, STR("HEADER:")) ? str_eq_nocase(other->key, row->key)
                                                  : str_eq(other->key, row->key)))
            return true;
    }
    return false;
}

/* Members of sets: the source's that the endpoint does not hide, and the endpoint's own. Their
 * order is part of what is in effect where a list is sent. */
static void model_sets(struct buf *out, const struct source *source, struct str endpoint,
                       const char *block)
{
    for (size_t i = 0; i < source->registry.count; i++) {
        const struct registry_row *row = &source->registry.rows[i];
        const bool is_list = str_starts(row->key, STR("ERROR:"));
        const struct registry_table *table = registry_table(row->table);

        if ((row->table != REGISTRY_PARAM && row->table != REGISTRY_FIELD &&
             row->table != REGISTRY_EXPR_RENDER && row->table != REGISTRY_CREDENTIAL) ||
            row->key.len == 0 || str_starts(row->key, STR("PATH:")))
            continue;
        if (row->endpoint.len > 0 && !str_eq(row->endpoint, endpoint))
            continue;
        if (row->endpoint.len == 0 && !is_list && is_hidden(source, row, endpoint))
            continue;
        if ((str_starts(row->key, STR("PARAM:")) || str_starts(row->key, STR("CREDENTIAL:"))) &&
            strcmp(block, "detail") == 0)
            continue;
        for (size_t c = 0; c < table->column_count; c++) {
            const struct registry_value *value = &row->values[c];

            buf_printf(out, "%s.%.*s@%.*s.%s#%d=", block, STR_ARG(row->key), STR_ARG(row->endpoint),
                       table->columns[c].name, (int)row->position);
            /* Unset and the built-in are the same: false for required and list, ANY for types, L1
             * and ERROR for rules. */
            if (!value->is_set)
                buf_add(out, strcmp(table->columns[c].name, "required") == 0 ||
                                     strcmp(table->columns[c].name, "list") == 0
                                 ? STR("0")
                             : strcmp(table->columns[c].name, "type") == 0 &&
                                     str_starts(row->key, STR("OUTPUT:"))
                                 ? STR("ANY")
                             : strcmp(table->columns[c].name, "meaning") == 0 && is_list
                                 ? STR("ERROR")
                             : strcmp(table->columns[c].name, "level") == 0 &&
                                     str_starts(row->key, STR("SUCCESS:"))
                                 ? STR("L1")
                                 : STR(""));
            else if (table->columns[c].type == REGISTRY_BOOL ||
                     table->columns[c].type == REGISTRY_INT)
                buf_printf(out, "%lld", (long long)value->number);
            else if (table->columns[c].type == REGISTRY_REAL)
                buf_printf(out, "%.17g", value->real);
            else
                buf_add(out, value->text);
            buf_add_char(out, '\n');
        }
    }
}

static struct str model(const struct source *source)
{
    const struct str endpoint = STR("search"), detail = STR("detail-2"), operation = STR("harvest");
    struct buf out;

    buf_init(&out, &arena, 1 << 20);
    model_single(&out, source, endpoint, operation, "first");
    model_sets(&out, source, endpoint, "first");
    model_single(&out, source, detail, operation, "detail");
    model_sets(&out, source, detail, "detail");
    return buf_str(&out);
}

/* A random source whose harvest is in two phases, so that every endpoint's settings count. */
static void fix_operation(struct random_source *random)
{
    const struct setting *endpoint = setting_find(AT_OPERATION, STR("endpoint"));
    const struct setting *operation = setting_find(AT_OPERATION, STR("operation"));
    const struct setting *details = setting_find(AT_ENDPOINT, STR("details.endpoint"));
    const struct setting *type = setting_find(AT_SOURCE, STR("page.type"));

    random_set(random, endpoint, STR(""), STR("harvest"), 0,
               (struct registry_value){ .is_set = true, .text = STR("search") });
    random_set(random, operation, STR(""), STR("harvest"), 0,
               (struct registry_value){ .is_set = true, .text = STR("HARVEST") });
    random_set(random, type, STR(""), STR(""), 0,
               (struct registry_value){ .is_set = true, .text = STR("URL") });
    random_set(random, details, STR("search"), STR(""), 0,
               (struct registry_value){ .is_set = true, .text = STR("detail-2") });
}

/* One random change: a value set, changed or taken away, anywhere a file could say it. Those of
 * other operations and what is only about the source are among them: they must change nothing. */
static const char *edit(struct random_source *random)
{
    static const struct str places[] = { STR_INIT(""), STR_INIT("search"), STR_INIT("detail-2") };
    static const struct str operations[] = { STR_INIT("harvest"), STR_INIT("catch-up") };
    static const char *const names[] = { "alpha", "Beta", "gamma_2" };

    for (;;) {
        const struct setting *setting = &SETTINGS[pick(random, SETTING_COUNT)];
        const struct str place = places[pick(random, ARRAY_LEN(places))];
        const enum setting_level level = setting->at == AT_OPERATION ? AT_OPERATION
                                         : place.len > 0             ? AT_ENDPOINT
                                                                     : AT_SOURCE;
        const bool is_named = setting->key != NULL && strchr(setting->key, '*') != NULL;
        const struct registry_value nothing = { 0 };
        struct str key = STR(""), at = place;

        if ((setting->at & level) == 0)
            continue;
        if (level == AT_OPERATION) {
            key = operations[pick(random, ARRAY_LEN(operations))];
            at = STR("");
        } else
            key =
                setting_key(random->arena, setting,
                            str_of(setting->is_list ? "0" : names[pick(random, ARRAY_LEN(names))]));
        /* A member of a set needs its row; another endpoint would make another plan of it. */
        if (is_named && row_at(&random->source, setting->table, at, key) == NULL)
            continue;
        if (strcmp(setting->path, "endpoint") == 0 || strcmp(setting->path, "operation") == 0 ||
            strcmp(setting->path, "details.endpoint") == 0 ||
            strcmp(setting->path, "page.type") == 0 || strcmp(setting->path, "role") == 0)
            continue;
        if (!setting->is_required && pick(random, 3) == 0)
            random_set(random, setting, at, key, 0, nothing);
        else
            random_set(random, setting, at, key, 0, random_value(random, setting));
        return setting->path;
    }
}

TEST(the_fingerprint_changes_exactly_when_a_value_in_effect_changes)
{
    struct random_source random;
    size_t same = 0, changed = 0;

    for (unsigned seed = 1; seed <= 12; seed++) {
        struct snapshot before;
        struct str model_before;

        arena_release(&arena);
        arena_init(&arena, (size_t)1 << 30);
        random_source(&random, &arena, seed);
        fix_operation(&random);
        before = snapshot_of(&random.source, "harvest");
        model_before = model(&random.source);
        for (int step = 0; step < 40; step++) {
            const char *path = edit(&random);
            const struct snapshot after = snapshot_of(&random.source, "harvest");
            const struct str model_after = model(&random.source);
            const bool is_same = str_eq(model_before, model_after);
            char label[128];

            (void)snprintf(label, sizeof(label), "seed %u step %d %s", seed, step, path);
            CHECK_EQ(strcmp(before.fingerprint, after.fingerprint) == 0, is_same, label);
            CHECK_EQ(str_eq(before.json, after.json), is_same, label);
            same += is_same;
            changed += !is_same;
            before = after;
            model_before = model_after;
        }
    }
    test_note("edits without effect: %zu, with effect: %zu", same, changed);
    CHECK(same > 50 && changed > 100, "both happened");
    arena_release(&arena);
}

/* ---- parameters ---- */

#define SEARCH(params)                                                                             \
    "source: demo\nparams: " params "\nhttp: { base_url: https://api.example, user_agent: \"patra" \
    " ${params.mail}\" }\nendpoints:\n  works:\n    role: search\n    path: /works\n    query: {"  \
    " q: \"${params.q}\", from: \"${window.from}\" }\n    page: { type: single }\n    window: {"   \
    " key: updated }\n    response: { items: $.items, id: $.id, updated_at: $.updated }\n"         \
    "operations:\n  harvest: { endpoint: works }\n"

static struct snapshot snapshot_of_text(const char *text, const struct override *override,
                                        struct selected_list selected)
{
    struct snapshot_request request = { .operation = STR("harvest"),
                                        .overrides = { override, override != NULL } };
    struct fault_list faults;
    struct source source;
    struct snapshot snapshot;
    struct error err;

    fault_list_init(&faults, &arena);
    REQUIRE(source_read(&arena, &(struct source_text){ .file = str_of(text) }, &faults, &source),
            text);
    source.selected = selected;
    request.source = &source;
    REQUIRE_OK(snapshot_make(&arena, &request, &snapshot, &err), err);
    return snapshot;
}

/* A value that is used in a request selects records. One that is only in the User-Agent does not.
 */
TEST(a_literal_parameter_of_the_query_is_part_of_the_query_hash)
{
    const struct selected_list none = { 0 };
    const struct override set = { STR("params.q"), STR("b") };
    struct snapshot a, b, mail, by_trigger;

    arena_release(&arena);
    arena_init(&arena, 64 << 20);
    a = snapshot_of_text(SEARCH("{ q: a, mail: x@y.example }"), NULL, none);
    b = snapshot_of_text(SEARCH("{ q: b, mail: x@y.example }"), NULL, none);
    mail = snapshot_of_text(SEARCH("{ q: a, mail: z@y.example }"), NULL, none);
    by_trigger = snapshot_of_text(SEARCH("{ q: a, mail: x@y.example }"), &set, none);
    CHECK(strcmp(a.query_hash, b.query_hash) != 0, "an edited value");
    CHECK(strcmp(a.expr_proto_hash, b.expr_proto_hash) != 0, "and so the expression");
    CHECK_STR(str_of(b.mapping_hash), str_of(a.mapping_hash), "records are read as before");
    CHECK_STR(str_of(mail.query_hash), str_of(a.query_hash), "the User-Agent selects nothing");
    CHECK_STR(str_of(by_trigger.query_hash), str_of(b.query_hash), "a trigger's value is the same");
    arena_release(&arena);
}

TEST(a_reference_counts_by_its_name_and_by_its_value_where_it_selects)
{
    struct selected one = { .name = STR("q") }, two = { .name = STR("q") };
    const struct selected_list none = { 0 }, first = { &one, 1 }, second = { &two, 1 };
    const char *plain = SEARCH("{ q: env:Q, mail: env:MAIL }");
    const char *selects = SEARCH("{ q: { value: env:Q, selects: true }, mail: env:MAIL }");
    struct snapshot a, b, c;
    struct spec spec;
    struct error err;

    arena_release(&arena);
    arena_init(&arena, 64 << 20);
    REQUIRE_OK(selected_hash(STR("q"), STR("cancer"), one.hash, &err), err);
    REQUIRE_OK(selected_hash(STR("q"), STR("heart"), two.hash, &err), err);
    a = snapshot_of_text(plain, NULL, none);
    b = snapshot_of_text(SEARCH("{ q: env:Q2, mail: env:MAIL }"), NULL, none);
    CHECK(strcmp(a.query_hash, b.query_hash) != 0, "another name");
    a = snapshot_of_text(selects, NULL, first);
    b = snapshot_of_text(selects, NULL, second);
    c = snapshot_of_text(selects, NULL, first);
    CHECK(strcmp(a.query_hash, b.query_hash) != 0, "another value");
    CHECK_STR(str_of(c.query_hash), str_of(a.query_hash), "the same value");
    CHECK(str_find(a.json, STR("cancer")) == a.json.len, "the value is not stored");
    REQUIRE_OK(spec_read(&arena, a.json, &spec, &err), err);
    CHECK_STR(spec.params[1].selects, str_of(one.hash), "the executor has the hash");
    arena_release(&arena);
}

/* ---- reading it back ---- */

TEST(a_snapshot_is_all_that_is_needed_to_run)
{
    struct source source;
    struct snapshot snapshot;
    struct spec spec;
    struct error err;

    load("sources/pubmed.yaml", &source);
    snapshot = snapshot_of(&source, "harvest");
    REQUIRE_OK(spec_read(&arena, snapshot.json, &spec, &err), err);
    CHECK_STR(spec.source, STR("pubmed"), "source");
    CHECK_EQ(spec.operation.operation, OPERATION_HARVEST, "operation");
    CHECK_EQ(spec.operation.priority, 10, "priority");
    CHECK_EQ(spec.endpoint.role, ENDPOINT_SEARCH, "role");
    CHECK_EQ(spec.endpoint.page.type, PAGINATION_OFFSET, "paging");
    CHECK_EQ(spec.endpoint.page.cap, 9999, "cap");
    CHECK_EQ(spec.endpoint.page.id_min, 1, "the least id");
    CHECK_EQ(spec.endpoint.page.id_max, 99999999, "the greatest");
    CHECK_EQ(spec.endpoint.page.max_pages, 0, "no limit");
    CHECK_EQ(spec.endpoint.window.mode, WINDOW_CALENDAR, "mode");
    CHECK_EQ(spec.endpoint.window.align, ALIGN_DAY, "align");
    CHECK_EQ(spec.endpoint.window.lag_us, INT64_C(12) * 3600 * 1000000, "lag");
    CHECK_EQ(spec.endpoint.rate.limit.burst, 1, "burst");
    CHECK(spec.endpoint.rate.limit.per_second == 3, "rate");
    CHECK(spec.endpoint.rate.with_credential.per_second == 10, "rate with a key");
    CHECK_EQ(spec.endpoint.rate.quota_shares[OPERATION_BACKFILL], 100, "no share");
    CHECK_EQ(spec.endpoint.query.count, 7, "parameters");
    CHECK_STR(spec.endpoint.query.items[0].name, STR("tool"), "the source's first");
    CHECK_EQ(spec.endpoint.expr_count, 3, "expressions");
    CHECK_EQ(spec.endpoint.response.error_when.count, 5, "the endpoint's rules and the source's");
    CHECK_EQ(spec.endpoint.response.error_when.items[0].meaning, RULE_TOO_DEEP, "the first rule");
    CHECK(spec.endpoint.response.items.json != NULL, "a compiled path");
    CHECK(spec.is_two_phase, "two phases");
    CHECK_EQ(spec.detail.method, HTTP_POST, "phase two");
    CHECK_EQ(spec.detail.batch.id_batch_size, 200, "ids");
    CHECK_EQ(spec.detail.response.format, RESPONSE_XML, "format");
    CHECK_STR(spec.detail.response.id[0].text, STR("MedlineCitation/PMID | BookDocument/PMID"),
              "a path of XML");
    CHECK(spec.detail.response.id[0].json == NULL, "compiled by the user of the module");
    CHECK_EQ(spec.param_count, 1, "parameters of the installation");
    CHECK(spec.params[0].is_required, "the contact is needed");
    arena_release(&arena);
}

/* Neither by their names nor by their places in the file; equal ones by their names. */
TEST(credentials_are_in_the_order_of_their_priority)
{
    static const char source[] =
        "source: keys\n"
        "http: { base_url: https://keys.example.org }\n"
        "auth: { type: api_key, location: header, name: X-Key }\n"
        "credentials:\n"
        "  alpha: { priority: 30, secret: env:A }\n"
        "  omega: { priority: 20, secret: env:O }\n"
        "  gamma: { priority: 20, secret: env:G }\n"
        "  zeta: { priority: 9, secret: env:Z }\n"
        "endpoints:\n"
        "  works:\n"
        "    role: search\n"
        "    path: /works\n"
        "    query: { page: \"${page.no}\", from: \"${date(window.from)}\" }\n"
        "    page: { type: page, base: 1 }\n"
        "    window: { key: updated }\n"
        "    response: { items: $.items, id: $.id, updated_at: $.updated }\n"
        "operations:\n"
        "  harvest: { endpoint: works }\n";
    static const char *const order[] = { "zeta", "gamma", "omega", "alpha" };
    struct snapshot snapshot;
    struct spec spec;
    struct error err;

    arena_release(&arena);
    arena_init(&arena, 64 << 20);
    snapshot = snapshot_of_text(source, NULL, (struct selected_list){ 0 });
    REQUIRE_OK(spec_read(&arena, snapshot.json, &spec, &err), err);
    REQUIRE(spec.credential_count == ARRAY_LEN(order), "all of them");
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        CHECK_STR(spec.credentials[i].name, str_of(order[i]), "in this order they are used");
    arena_release(&arena);
}

/* Members are random values of all types; what was written reads back the same. */
TEST(every_snapshot_can_be_read_back)
{
    const struct setting *id = setting_find(AT_ENDPOINT, STR("response.id"));
    struct random_source random;
    struct spec spec;
    struct error err;

    for (unsigned seed = 1; seed <= 20; seed++) {
        struct snapshot snapshot;

        arena_release(&arena);
        arena_init(&arena, (size_t)1 << 28);
        random_source(&random, &arena, seed);
        fix_operation(&random);
        /* Texts that are not paths or templates cannot be compiled; set valid ones. */
        for (size_t r = 0; r < random.source.registry.count; r++) {
            struct registry_row *row = &random.source.registry.rows[r];

            for (size_t c = 0; c < registry_table(row->table)->column_count; c++) {
                const char *name = registry_table(row->table)->columns[c].name;

                if (strcmp(name, "path") == 0 || strcmp(name, "next_path") == 0)
                    row->values[c].text = STR("$.a");
                if (strcmp(name, "parts") == 0 && row->values[c].is_set)
                    row->values[c].text = STR("\"$.a\"");
                if (strcmp(name, "value") == 0 || strcmp(name, "expression") == 0 ||
                    strcmp(name, "user_agent") == 0)
                    row->values[c].text = STR("${page.size}");
            }
        }
        random_set(&random, id, STR("search"), STR("PATH:id"), 0,
                   (struct registry_value){ .is_set = true, .text = STR("[\"$.a\",\"$.b\"]") });
        random_set(&random, id, STR("detail-2"), STR("PATH:id"), 0,
                   (struct registry_value){ .is_set = true, .text = STR("\"$.a\"") });
        snapshot = snapshot_of(&random.source, "harvest");
        REQUIRE_OK(spec_read(&arena, snapshot.json, &spec, &err), err);
        CHECK_EQ(spec.endpoint.response.id_count, 2, "parts of an id");
        CHECK_EQ(spec.detail.response.id_count, 1, "one part");
        CHECK_EQ(spec.param_count, 3, "parameters");
    }
    arena_release(&arena);
}

TEST(what_is_not_a_snapshot_is_a_fatal_error)
{
    static const char *const texts[] = {
        "",
        "{}",
        "[]",
        "{\"version\":2}",
        "{\"version\":1}",
        "{\"version\":1,\"operation\":{\"operation\":\"REAP\"}}",
    };
    struct spec spec;
    struct error err;

    arena_release(&arena);
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        CHECK(!spec_read(&arena, str_of(texts[i]), &spec, &err), texts[i]);
        CHECK_EQ(err.level, ERROR_FATAL, texts[i]);
    }
    arena_release(&arena);
}

TEST(an_operation_that_does_not_exist_is_an_error)
{
    struct source source;
    struct snapshot snapshot;
    struct error err;

    load("sources/crossref.yaml", &source);
    CHECK(!snapshot_make(&arena,
                         &(struct snapshot_request){ .source = &source, .operation = STR("reap") },
                         &snapshot, &err),
          "refused");
    CHECK_STR(str_of(err.code), STR("source.operation"), "code");
    arena_release(&arena);
}
