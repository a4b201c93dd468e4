/* The table of settings agrees with the Registry and struct spec, and values are checked as they
 * are read. */
#include "spec/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "spec/setting_value.h"
#include "test.h"

TEST(every_setting_has_a_column_of_its_own_type)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *setting = &SETTINGS[i];
        const int column = registry_column(setting->table, str_of(setting->column));

        REQUIRE(column >= 0, setting->path);
        CHECK_EQ(registry_table(setting->table)->columns[column].type, setting_storage(setting),
                 setting->path);
        CHECK(setting->help != NULL && setting->help[strlen(setting->help) - 1] == '.',
              setting->path);
        CHECK((setting->codes != NULL) ==
                  (setting->type == SETTING_CODE || setting->type == SETTING_CODES ||
                   setting->type == SETTING_SHARES),
              setting->path);
        CHECK(strlen(setting->path) < 64, setting->path);
    }
}

/* Every setting is decided: it selects records (is_proto), reads stored ones (is_mapping), only
 * describes the source (is_about), or is here with the reason why it does none of these. A new
 * setting must be decided before this test passes. */
static const struct {
    const char *reason;
    const char *paths[48];
} NEITHER[] = {
    { "who sends the request, and how it is carried",
      { "auth_required",
        "http.user_agent",
        "http.connect_timeout",
        "http.read_timeout",
        "http.total_timeout",
        "http.compression",
        "http.proxy",
        "http.redirects",
        "http.allow_plain_http",
        "http.body_max",
        "http.inflated_max",
        "http.redact",
        "http.archive_keep",
        "http.archive_size",
        "http.redact_names",
        "auth.secret",
        "auth.username",
        "auth.password",
        "auth.optional",
        "auth.oauth2.token_url",
        "auth.oauth2.client_id",
        "auth.oauth2.client_secret",
        "auth.oauth2.token_ttl",
        "auth.oauth2.refresh_before" } },
    { "which credential is sent, and how fast",
      { "credentials.*.secret", "credentials.*.username", "credentials.*.password",
        "credentials.*.client_id", "credentials.*.client_secret", "credentials.*.priority",
        "credentials.*.per_second", "credentials.*.burst", "credentials.*.concurrency",
        "credentials.*.quota_day", "credentials.*.quota_hour" } },
    { "without a value nothing is sent at all", { "params.*.required" } },
    { "only checked",
      { "role", "expr.functions", "batch.id_batch_max", "rate.provider_limit",
        "rate.with_credential.provider_limit", "window.monotonic" } },
    { "in the query by its name, or by what it leads to",
      { "details.endpoint", "operation", "endpoint" } },
    { "what the events of later changes carry", { "event.payload" } },
    { "how the bytes of later changes are stored", { "payload.packed" } },
    { "how the walk proves its end; a walk that is cut short is not done",
      { "page.max_pages", "page.size_fixed", "page.replayable", "page.same_token",
        "page.tail_probe", "page.bridge_to_time", "page.cap", "response.may_be_absent" } },
    { "names the cursor, so another one has its own", { "window.key" } },
    { "where windows begin and end, not what is in them",
      { "window.lag", "window.lookback", "window.lookback_ids", "window.bridge", "window.start_id",
        "window.size", "window.align", "window.max", "window.min", "window.overlap", "window.start",
        "window.beyond_now" } },
    { "which namespace, which slices, which records are due",
      { "namespace", "shares_with", "direction", "drive", "cursor", "slice.by", "slice.pages",
        "slice.ids", "slice.buckets", "candidates", "staleness.after", "staleness.buckets" } },
    { "how fast and how much at once",
      { "rate.per_second",
        "rate.burst",
        "rate.concurrency",
        "rate.adaptive",
        "rate.scope",
        "rate.per_credential",
        "rate.cost",
        "rate.warmup",
        "rate.cool_down",
        "rate.increase",
        "rate.demote",
        "rate.min",
        "rate.with_credential.per_second",
        "rate.with_credential.burst",
        "rate.with_credential.concurrency",
        "rate.quota.day",
        "rate.quota.hour",
        "rate.quota.margin",
        "rate.quota.shares",
        "rate.meaning_429",
        "rate.quantum",
        "retry.max_attempts",
        "retry.backoff",
        "retry.min_delay",
        "retry.max_delay",
        "retry.multiplier",
        "retry.jitter",
        "retry.statuses",
        "retry.on_timeout",
        "batch.id_batch_size",
        "batch.combine",
        "batch.split_failed",
        "page.size",
        "page.size_min",
        "page.size_max",
        "priority",
        "budget.requests",
        "budget.records",
        "budget.time",
        "queued_max",
        "running_max" } },
};

static bool is_neither(const struct setting *setting)
{
    for (size_t i = 0; i < ARRAY_LEN(NEITHER); i++) {
        for (size_t k = 0; k < ARRAY_LEN(NEITHER[i].paths) && NEITHER[i].paths[k] != NULL; k++) {
            if (strcmp(NEITHER[i].paths[k], setting->path) == 0)
                return true;
        }
    }
    return false;
}

TEST(every_setting_is_decided_query_mapping_or_neither)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *setting = &SETTINGS[i];

        CHECK_EQ(setting->is_proto + setting->is_mapping + setting->is_about + is_neither(setting),
                 1, setting->path);
        if (setting->is_override)
            CHECK(!setting->is_mapping && !setting->is_about, setting->path);
    }
}

static bool suits(enum setting_type type, enum spec_kind kind)
{
    switch (kind) {
    case SPEC_BOOL:
        return type == SETTING_BOOL;
    case SPEC_INT:
        return type == SETTING_INT;
    case SPEC_I64:
        return type == SETTING_INT || type == SETTING_SIZE || type == SETTING_DURATION ||
               type == SETTING_INSTANT;
    case SPEC_DOUBLE:
        return type == SETTING_REAL;
    case SPEC_WORD:
        return type == SETTING_CODE;
    case SPEC_STR:
        return type == SETTING_TEXT || type == SETTING_URL || type == SETTING_NAME ||
               type == SETTING_VALUE || type == SETTING_SECRET || type == SETTING_HEADER ||
               type == SETTING_BODY;
    case SPEC_TEMPLATE:
        return type == SETTING_TEMPLATE;
    case SPEC_PATH:
        return type == SETTING_PATH;
    case SPEC_TEXTS:
        return type == SETTING_TEXTS;
    case SPEC_STATUSES:
        return type == SETTING_STATUSES;
    case SPEC_DATE_FORMATS:
        return type == SETTING_DATE_FORMATS;
    case SPEC_NAMESPACES:
        return type == SETTING_NAMESPACES;
    case SPEC_NOWHERE:
        break;
    }
    return false;
}

TEST(every_setting_is_read_into_a_member_that_suits_its_type)
{
    static const char *const unread[] = {
        "batch.id_batch_max",                  /* the checks need it */
        "details.endpoint",                    /* decides what `detail` is */
        "endpoint",                            /* decides what the endpoint is */
        "expr.functions",                      /* the checks */
        "expr.time_format",                    /* reserved */
        "expr.timezone",                       /* there is one zone */
        "rate.provider_limit",                 /* the checks */
        "rate.with_credential.provider_limit", /* the checks */
    };
    size_t found = 0;

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *setting = &SETTINGS[i];
        const bool is_inherited = str_starts(str_of(setting->path), STR("http.headers.")) ||
                                  str_starts(str_of(setting->path), STR("http.query."));
        bool is_unread = false;

        for (size_t k = 0; k < ARRAY_LEN(unread); k++)
            is_unread |= strcmp(setting->path, unread[k]) == 0;
        found += is_unread;
        if (setting->is_about || is_inherited || is_unread)
            CHECK(setting->into.kind == SPEC_NOWHERE && setting->into.read == NULL, setting->path);
        else if (setting->into.read == NULL)
            CHECK(suits(setting->type, setting->into.kind), setting->path);
    }
    CHECK_EQ(found, ARRAY_LEN(unread), "each of them is a setting");
}

TEST(every_set_is_in_the_table_of_sets)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *setting = &SETTINGS[i];
        const struct str path = str_of(setting->path);
        const size_t star = str_find(path, STR(".*."));
        const bool is_inherited = str_starts(path, STR("http."));

        if (star < path.len)
            CHECK(is_inherited || setting_set(setting->at & AT_ENDPOINT ? AT_ENDPOINT : AT_SOURCE,
                                              str_slice(path, 0, star)) != NULL,
                  setting->path);
    }
}

TEST(every_column_is_written_by_a_setting_and_by_one_only)
{
    for (int t = 0; t < REGISTRY_TABLE_COUNT; t++) {
        const struct registry_table *table = registry_table((enum registry_table_id)t);

        for (size_t c = 0; c < table->column_count; c++) {
            size_t writers = 0;

            for (size_t i = 0; i < SETTING_COUNT; i++)
                writers += SETTINGS[i].table == (enum registry_table_id)t &&
                           strcmp(SETTINGS[i].column, table->columns[c].name) == 0;
            CHECK(writers > 0, table->columns[c].name);
        }
    }
    for (size_t a = 0; a < SETTING_COUNT; a++) {
        for (size_t b = a + 1; b < SETTING_COUNT; b++) {
            const bool same_place = SETTINGS[a].table == SETTINGS[b].table &&
                                    (SETTINGS[a].at & SETTINGS[b].at) != 0 &&
                                    strcmp(SETTINGS[a].column, SETTINGS[b].column) == 0;
            const char *key_a = SETTINGS[a].key != NULL ? SETTINGS[a].key : "";
            const char *key_b = SETTINGS[b].key != NULL ? SETTINGS[b].key : "";

            CHECK(!same_place || strcmp(key_a, key_b) != 0, SETTINGS[b].path);
            CHECK((SETTINGS[a].at & SETTINGS[b].at) == 0 ||
                      strcmp(SETTINGS[a].path, SETTINGS[b].path) != 0,
                  SETTINGS[b].path);
        }
    }
}

/* setting_next() and exported files rely on it. */
TEST(settings_of_a_group_are_adjacent)
{
    static const enum setting_level levels[] = { AT_SOURCE, AT_ENDPOINT, AT_OPERATION };

    for (size_t l = 0; l < ARRAY_LEN(levels); l++) {
        const struct setting *setting = NULL;
        struct str parts[64], part;
        size_t count = 0;

        while ((setting = setting_next(levels[l], STR(""), setting, &part)) != NULL) {
            for (size_t i = 0; i < count; i++)
                CHECK(!str_eq(parts[i], part), setting->path);
            REQUIRE(count < ARRAY_LEN(parts), "room");
            parts[count++] = part;
        }
        CHECK(count > 3, "there are some");
    }
}

TEST(built_in_values_can_be_read_and_are_in_range)
{
    struct registry_value value, again;
    struct fault_list faults;
    struct arena arena;
    struct buf out;

    arena_init(&arena, 1 << 22);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct value_reader reader = { &arena, &faults, { 0 }, STR("x"), &SETTINGS[i] };

        fault_list_init(&faults, &arena);
        REQUIRE(setting_builtin(&arena, &SETTINGS[i], &value), SETTINGS[i].path);
        CHECK_EQ(value.is_set, SETTINGS[i].builtin != NULL, SETTINGS[i].path);
        if (!value.is_set)
            continue;
        buf_init(&out, &arena, 4096);
        setting_print(&SETTINGS[i], &value, &out);
        CHECK(setting_read_text(&reader, buf_str(&out), &again), SETTINGS[i].path);
        CHECK(registry_value_eq(setting_storage(&SETTINGS[i]), &value, &again), SETTINGS[i].path);
    }
    arena_release(&arena);
}

TEST(groups_sets_and_short_forms_are_found)
{
    CHECK(setting_is_group(AT_SOURCE, STR("http")), "http");
    CHECK(!setting_is_group(AT_SOURCE, STR("htt")), "half a name");
    CHECK(!setting_is_group(AT_SOURCE, STR("http.base_url")), "a leaf");
    CHECK(setting_is_set(AT_ENDPOINT, STR("query")), "query");
    CHECK(!setting_is_set(AT_SOURCE, STR("query")), "not at this level");
    CHECK(setting_is_set(AT_SOURCE, STR("http.headers")), "http.headers");
    CHECK(!setting_is_set(AT_ENDPOINT, STR("http")), "a group");
    CHECK_STR(str_of(setting_short(AT_ENDPOINT, STR("query.*"))->path), STR("query.*.value"),
              "short");
    CHECK(setting_short(AT_ENDPOINT, STR("response.error_when.*")) == NULL, "has none");
    CHECK_STR(setting_name(setting_find(AT_SOURCE, STR("auth.oauth2.scope"))), STR("scope"),
              "name");
}

static const struct {
    const char *path;
    const char *text;
    const char *code; /* NULL: readable */
} values[] = {
    { "http.redirects", "3", NULL },
    { "http.redirects", "4", "spec.range" },
    { "http.redirects", "-1", "spec.range" },
    { "http.redirects", "two", "spec.type" },
    { "http.redirects", "[1]", "spec.type" },
    { "http.compression", "true", NULL },
    { "http.compression", "yes", "spec.type" },
    { "http.compression", "TRUE", "spec.type" },
    { "http.compression", "\"true\"", "spec.type" },
    { "http.read_timeout", "120s", NULL },
    { "http.read_timeout", "121s", "spec.range" },
    { "http.read_timeout", "30", "spec.type" },
    { "http.read_timeout", "1mo", "spec.type" },
    { "http.body_max", "1024", NULL },
    { "http.body_max", "1KiB", NULL },
    { "http.body_max", "1KB", "spec.type" },
    { "http.body_max", "9223372036854775807GiB", "spec.type" },
    { "http.body_max", "1GiB", "spec.range" },
    { "http.base_url", "https://api.example.org/v1", NULL },
    { "http.base_url", "api.example.org", "spec.url" },
    { "http.base_url", "ftp://example.org", "spec.url" },
    { "http.base_url", "https://example.org/?a=b", "spec.url" },
    { "http.base_url", "https://u:p@example.org/", "spec.secret.literal" },
    { "http.proxy", "http://proxy:8080", NULL },
    { "http.proxy", "http://u:p@proxy:8080", "spec.secret.literal" },
    { "http.proxy", "env:PROXY", NULL },
    { "http.proxy", "env:", "spec.reference" },
    { "auth.secret", "env:KEY", NULL },
    { "auth.secret", "file:/run/secrets/key", NULL },
    { "auth.secret", "file:key", "spec.secret.literal" },
    { "auth.secret", "env:1KEY", "spec.secret.literal" },
    { "auth.secret", "sk-0123456789", "spec.secret.literal" },
    { "auth.type", "api-key", NULL },
    { "auth.type", "apikey", "spec.code" },
    { "rate.per_second", "0.5", NULL },
    { "rate.per_second", "10", NULL },
    { "rate.per_second", "0", "spec.range" },
    { "rate.per_second", ".5", "spec.type" },
    { "rate.per_second", "5.", "spec.type" },
    { "rate.per_second", "1e3", "spec.type" },
    { "rate.quota.shares", "{ harvest: 60, backfill: 40 }", NULL },
    { "rate.quota.shares", "{ harvest: 60, backfill: 41 }", "spec.rate.shares" },
    { "rate.quota.shares", "{ reap: 60 }", "spec.code" },
    { "rate.quota.shares", "{ harvest: 10, HARVEST: 10 }", "spec.type" },
    { "retry.statuses", "[429, 503]", NULL },
    { "retry.statuses", "503", NULL },
    { "retry.statuses", "[42]", "spec.type" },
    { "response.date_formats", "[rfc3339, epoch_ms]", NULL },
    { "response.date_formats", "[rfc3338]", "spec.date-format" },
    { "page.next_header", "X-Next-Token", NULL },
    { "page.next_header", "X Next", "spec.name" },
    { "window.start", "2020-01-31", NULL },
    { "window.start", "2020-01-31T10:00:00Z", NULL },
    { "window.start", "2020", "spec.type" },
    { "window.start", "soon", "spec.type" },
    { "window.key", "", "spec.type" },
    { "window.key", "~", "spec.type" },
};

TEST(values_are_checked_as_they_are_read)
{
    struct registry_value value;
    struct fault_list faults;
    struct arena arena;
    char label[128];

    arena_init(&arena, 1 << 24);
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        const struct setting *setting = setting_find(AT_SOURCE, str_of(values[i].path));
        const struct value_reader reader = { &arena, &faults, { 0 }, STR("field"), setting };
        const char *code = NULL;

        (void)snprintf(label, sizeof(label), "%s: %s", values[i].path, values[i].text);
        REQUIRE(setting != NULL, label);
        fault_list_init(&faults, &arena);
        CHECK_EQ(setting_read_text(&reader, str_of(values[i].text), &value), values[i].code == NULL,
                 label);
        code = faults.count > 0 ? faults.items[0].code : NULL;
        CHECK_STR(str_of(code), str_of(values[i].code), label);
        for (size_t f = 0; f < faults.count; f++)
            CHECK(str_starts(faults.items[f].message, STR("field ")), label);
    }
    arena_release(&arena);
}

TEST(a_secret_written_by_mistake_is_not_quoted)
{
    const struct setting *setting = setting_find(AT_SOURCE, STR("auth.secret"));
    struct registry_value value;
    struct fault_list faults;
    struct arena arena;
    const struct value_reader reader = { &arena, &faults, { 0 }, STR("auth.secret"), setting };

    arena_init(&arena, 1 << 20);
    fault_list_init(&faults, &arena);
    CHECK(!setting_read_text(&reader, STR("hunter2"), &value), "refused");
    CHECK(str_find(faults.items[0].message, STR("hunter2")) == faults.items[0].message.len,
          "message");
    CHECK(str_find(faults.items[0].hint, STR("hunter2")) == faults.items[0].hint.len, "hint");
    arena_release(&arena);
}

/* Any printed text is YAML that reads back as the same text. */
TEST(printed_texts_read_back_the_same)
{
    static const char *const pieces[] = {
        "a",
        "B",
        "0",
        "9",
        " ",
        "  ",
        ":",
        ": ",
        " #",
        "#",
        "-",
        "?",
        ",",
        "[",
        "]",
        "{",
        "}",
        "&",
        "*",
        "!",
        "|",
        ">",
        "'",
        "\"",
        "%",
        "@",
        "`",
        "\\",
        "$",
        ".",
        "~",
        "é",
        "€",
        "𝄞",
        "\xC2\x85",
        "\xE2\x80\xA8",
        "\xEF\xBB\xBF",
        "null",
        "true",
        "1.5",
        "=",
        "<<",
        "\x7F",
        "\x01",
        "\n",
        "\t",
        "/",
        "(",
        ")",
    };
    struct fault_list faults;
    struct arena arena;
    unsigned seed = 7;

    arena_init(&arena, 1 << 22);
    for (int round = 0; round < 20000; round++) {
        char text[64] = "";
        const struct node *root;
        struct buf out;

        arena_reset(&arena);
        fault_list_init(&faults, &arena);
        for (int n = rand_r(&seed) % 8; n > 0; n--)
            strcat(text, pieces[(size_t)rand_r(&seed) % ARRAY_LEN(pieces)]);
        buf_init(&out, &arena, 4096);
        buf_add(&out, STR("[ 1, "));
        setting_print_text(str_of(text), &out);
        buf_add(&out, STR(" ]\n"));
        root = node_read(&arena, buf_str(&out), &faults);
        REQUIRE(root != NULL && root->count == 2, buf_str(&out).data);
        CHECK_STR(root->entries[1].value->text, str_of(text), "in a list");

        buf_clear(&out);
        buf_add(&out, STR("k: "));
        setting_print_text(str_of(text), &out);
        buf_add(&out, STR("\nz: 1\n"));
        root = node_read(&arena, buf_str(&out), &faults);
        REQUIRE(root != NULL && root->count == 2, buf_str(&out).data);
        CHECK_STR(root->entries[0].value->text, str_of(text), "in a map");
    }
    arena_release(&arena);
}
