/* Reading the file of a receiver, and its stored form. */
#include "spec/alert_file.h"

#include <stddef.h>

#include "base/instant.h"
#include "base/suggest.h"
#include "data/json_canonical.h"
#include "data/json_write.h"
#include "spec/node.h"
#include "spec/setting_member.h"
#include "spec/setting_value.h"

/* clang-format off */
#define KIND_OF(member)                                \
    _Generic(((struct alert_receiver *)NULL)->member,  \
             bool: SPEC_BOOL,                          \
             int64_t: SPEC_I64,                        \
             unsigned: SPEC_WORD,                      \
             struct str: SPEC_STR)
/* clang-format on */
#define INTO(member)                                                       \
    {                                                                      \
        KIND_OF(member), .offset = offsetof(struct alert_receiver, member) \
    }
#define INTO_LIST(items, count)                                            \
    {                                                                      \
        SPEC_TEXTS, .offset = offsetof(struct alert_receiver, items),      \
                    .count_offset = offsetof(struct alert_receiver, count) \
    }

/* In the order of the manual. */
static const struct setting ROWS[] = {
    { "receiver", .type = SETTING_NAME, .into = INTO(name), .is_required = true,
      .help = "The name of the receiver." },
    { "form", .type = SETTING_CODE, .codes = &ALERT_FORM_CODES, .into = INTO(form),
      .is_required = true, .help = "`webhook`, `slack`, `dingtalk` or `email`." },
    { "description", .type = SETTING_TEXT, .into = INTO(description),
      .help = "Who it is, for lists." },
    { "url", .type = SETTING_VALUE, .into = INTO(url), .is_required = true,
      .help = "Where alerts are POSTed; for e-mail the server: `smtps://host`, or "
              "`smtp://host:587`, which must offer STARTTLS. By reference (`env:NAME`) where the "
              "URL itself is a secret, as those of Slack and DingTalk are." },
    { "token", .type = SETTING_SECRET, .into = INTO(token),
      .help = "Sent as Authorization: Bearer; by reference." },
    { "signing", .type = SETTING_SECRET, .into = INTO(signing),
      .help = "The key of the signatures, by reference: of Standard Webhooks (`webhook-signature`) "
              "for a webhook, of the robot for DingTalk." },
    { "user", .type = SETTING_VALUE, .into = INTO(user), .help = "E-mail: the user." },
    { "password", .type = SETTING_SECRET, .into = INTO(password),
      .help = "E-mail: the password, by reference." },
    { "from", .type = SETTING_TEXT, .into = INTO(from), .help = "E-mail: who sends it." },
    { "to", .type = SETTING_TEXTS, .into = INTO_LIST(to, to_count),
      .help = "E-mail: who gets it, one or several." },
    { "severity", .type = SETTING_CODE, .builtin = "warning", .codes = &ALERT_SEVERITY_CODES,
      .into = INTO(severity), .help = "The least: `warning` or `critical`." },
    { "rules", .type = SETTING_TEXTS, .into = INTO_LIST(rules, rule_count),
      .help = "Only alerts of these rules." },
    { "sources", .type = SETTING_TEXTS, .into = INTO_LIST(sources, source_count),
      .help = "Only alerts about these sources." },
    { "runbooks", .type = SETTING_TEXT, .builtin = "docs/runbooks", .into = INTO(runbooks),
      .help = "What the link to the page of a rule begins with: where you keep these pages." },
    { "timeout", .type = SETTING_DURATION, .builtin = "10s", .min = 0.1 * US_PER_SECOND,
      .max = 60.0 * US_PER_SECOND, .into = INTO(timeout_us),
      .help = "How long to wait for the answer." },
    { "allow_plain", .type = SETTING_BOOL, .builtin = "false", .into = INTO(allow_plain),
      .help = "Allow a connection without TLS: for a server on this machine or in a closed "
              "network." },
    { "ca", .type = SETTING_TEXT, .into = INTO(ca),
      .help = "A PEM file with the authorities that are trusted; without it, the system's." },
};
enum { ROW_COUNT = sizeof(ROWS) / sizeof(ROWS[0]) };

struct walk {
    struct arena *arena;
    struct fault_list *faults;
    struct str file;
    struct alert_receiver *receiver;
    struct mark places[ROW_COUNT]; /* line 0: not given */
};

static const struct setting *find(struct str name)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (str_eq(str_of(ROWS[i].path), name))
            return &ROWS[i];
    }
    return NULL;
}

static void report_unknown(struct walk *walk, const struct node_entry *entry)
{
    const char *names[ROW_COUNT];
    const char *near;

    for (size_t i = 0; i < ROW_COUNT; i++)
        names[i] = ROWS[i].path;
    near = suggest(entry->key, names, ROW_COUNT);
    fault_error(walk->faults, "alert.key.unknown", entry->at, "%.*s is not a known key",
                STR_ARG(entry->key));
    if (near != NULL)
        fault_hint(walk->faults, "did you mean %s?", near);
    else
        fault_hint(walk->faults, "docs/alerts.md lists all settings");
}

static void read_all(struct walk *walk, const struct node *map)
{
    if (map->kind != NODE_MAP) {
        fault_error(walk->faults, "alert.type", map->at, "the file must be a map of settings");
        return;
    }
    for (size_t i = 0; i < map->count; i++) {
        const struct node_entry *entry = &map->entries[i];
        const struct setting *row = find(entry->key);
        const struct value_reader reader = { walk->arena, walk->faults, walk->file, entry->key,
                                             row };
        struct registry_value value = { 0 };

        if (row == NULL) {
            report_unknown(walk, entry);
            continue;
        }
        walk->places[row - ROWS] = entry->value->at;
        if (setting_read(&reader, entry->value, &value) &&
            !setting_put(walk->arena, row, &value, walk->receiver))
            walk->faults->failed = true;
    }
}

static bool is_given(const struct walk *walk, const char *name)
{
    return walk->places[find(str_of(name)) - ROWS].line > 0;
}

static void fill_defaults(struct walk *walk)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct registry_value value;

        if (walk->places[i].line > 0)
            continue;
        if (ROWS[i].is_required)
            fault_error(walk->faults, "alert.missing", (struct mark){ 0 }, "%s is missing",
                        ROWS[i].path);
        else if (!setting_builtin(walk->arena, &ROWS[i], &value) ||
                 !setting_put(walk->arena, &ROWS[i], &value, walk->receiver))
            walk->faults->failed = true;
    }
}

/* ---- what the values say together ---- */

static struct mark place_of(const struct walk *walk, const char *name)
{
    return walk->places[find(str_of(name)) - ROWS];
}

/* What only one of the forms has. */
static void check_only(struct walk *walk, const char *name, bool is_of_form)
{
    if (is_given(walk, name) && !is_of_form)
        fault_error(walk->faults, "alert.form", place_of(walk, name),
                    "%s is not a setting of this form", name);
}

static void check_form(struct walk *walk)
{
    const enum alert_form form = walk->receiver->form;
    const bool is_mail = form == ALERT_FORM_EMAIL;
    static const char *const mail[] = { "user", "password", "from", "to" };

    for (size_t i = 0; i < ARRAY_LEN(mail); i++)
        check_only(walk, mail[i], is_mail);
    check_only(walk, "token", form == ALERT_FORM_WEBHOOK);
    check_only(walk, "signing", form == ALERT_FORM_WEBHOOK || form == ALERT_FORM_DINGTALK);
    if (is_mail && (walk->receiver->from.len == 0 || walk->receiver->to_count == 0))
        fault_error(walk->faults, "alert.missing", place_of(walk, "form"),
                    "an e-mail needs from and to");
    if (is_given(walk, "user") != is_given(walk, "password"))
        fault_error(walk->faults, "alert.missing", place_of(walk, "user"),
                    "user and password belong together");
}

static void check_url(struct walk *walk)
{
    const struct str url = walk->receiver->url;
    const bool is_mail = walk->receiver->form == ALERT_FORM_EMAIL;
    const struct str safe = is_mail ? STR("smtps://") : STR("https://");
    const struct str plain = is_mail ? STR("smtp://") : STR("http://");

    if (url.len == 0 || setting_is_reference(url) || str_starts(url, safe) ||
        (str_starts(url, plain) && (is_mail || walk->receiver->allow_plain)))
        return;
    fault_error(walk->faults, "alert.url", place_of(walk, "url"),
                "url must begin with %.*s, or be env:NAME or file:PATH", STR_ARG(safe));
    if (str_starts(url, plain))
        fault_hint(walk->faults, "allow_plain: true allows a connection without TLS");
}

static void check_addresses(struct walk *walk)
{
    const struct alert_receiver *r = walk->receiver;

    for (size_t i = 0; i <= r->to_count; i++) {
        const struct str address = i < r->to_count ? r->to[i] : r->from;

        if (address.len == 0 || (str_find_char(address, '@') < address.len &&
                                 str_find_char(address, '<') == address.len &&
                                 str_find_char(address, ' ') == address.len))
            continue;
        fault_error(walk->faults, "alert.address", place_of(walk, i < r->to_count ? "to" : "from"),
                    "%.*s is not an address such as oncall@example.org", STR_ARG(address));
    }
}

static void check_rules(struct walk *walk)
{
    for (size_t i = 0; i < walk->receiver->rule_count; i++) {
        const struct str name = walk->receiver->rules[i];
        enum alert_rule rule;

        if (alert_rule_find(name, &rule))
            continue;
        fault_error(walk->faults, "alert.rule", place_of(walk, "rules"), "%.*s is not a rule",
                    STR_ARG(name));
        if (alert_rule_near(name) != NULL)
            fault_hint(walk->faults, "did you mean %s?", alert_rule_near(name));
        else
            fault_hint(walk->faults, "patra alert rules lists all");
    }
}

bool alert_file_read(struct arena *arena, struct str file, struct fault_list *faults,
                     struct alert_receiver *receiver)
{
    struct walk walk = { arena, faults, file, receiver, { { 0 } } };
    const size_t before = faults->errors;
    const struct node *tree;

    *receiver = (struct alert_receiver){ 0 };
    if (file.len > ALERT_FILE_BYTES_MAX) {
        fault_error(faults, "alert.limit", (struct mark){ 0 },
                    "the file of a receiver has at most %d bytes", ALERT_FILE_BYTES_MAX);
        return false;
    }
    tree = node_read(arena, file, faults);
    if (tree == NULL)
        return false;
    read_all(&walk, tree);
    if (faults->errors == before)
        fill_defaults(&walk);
    if (faults->errors == before) {
        check_form(&walk);
        check_url(&walk);
        check_addresses(&walk);
        check_rules(&walk);
    }
    return faults->errors == before && !faults->failed;
}

/* ---- the stored form ---- */

bool alert_file_compile(struct arena *arena, const struct alert_receiver *receiver,
                        struct str *json, struct error *err)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, arena, (size_t)4 * ALERT_FILE_BYTES_MAX);
    json_writer_init(&w, &out);
    json_write_object(&w);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct registry_value value;

        if (!setting_get(arena, &ROWS[i], receiver, &value))
            return arena_error(arena, err);
        if (!value.is_set)
            continue;
        json_write_name(&w, str_of(ROWS[i].path));
        setting_write(arena, &ROWS[i], &value, &w);
    }
    json_write_end(&w);
    return buf_ok(&out, err) && json_canonical_text(arena, buf_str(&out), json, err);
}

bool alert_file_load(struct arena *arena, struct str json, struct alert_receiver *receiver,
                     struct error *err)
{
    struct fault_list faults;

    fault_list_init(&faults, arena);
    if (alert_file_read(arena, json, &faults, receiver))
        return true;
    if (faults.failed)
        return arena_error(arena, err);
    return error_set(err, ERROR_FATAL, "alert.spec",
                     "the stored description of the receiver is not valid: %.*s",
                     STR_ARG(faults.count > 0 ? faults.items[0].message : STR("no reason")));
}

/* ---- for people ---- */

void alert_file_print(struct arena *arena, const struct alert_receiver *receiver, struct buf *out)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct registry_value value;

        if (!setting_get(arena, &ROWS[i], receiver, &value))
            out->failed = true;
        if (!value.is_set)
            continue;
        buf_printf(out, "%s: ", ROWS[i].path);
        setting_print(&ROWS[i], &value, out);
        buf_add_char(out, '\n');
    }
}

void alert_manual_write(struct buf *out)
{
    buf_add(out, STR("| setting | default | meaning |\n|---|---|---|\n"));
    for (size_t i = 0; i < ROW_COUNT; i++) {
        buf_printf(out, "| `%s` | ", ROWS[i].path);
        if (ROWS[i].builtin != NULL)
            buf_printf(out, "`%s`", ROWS[i].builtin);
        else if (ROWS[i].is_required)
            buf_add(out, STR("required"));
        buf_printf(out, " | %s |\n", ROWS[i].help);
    }
}
