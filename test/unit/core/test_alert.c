/* Rules: each has a page, a line in the manual, and files for Prometheus and Grafana name only what
 * is exported. */
#include "core/alert.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "core/alert_receiver.h"
#include "test.h"

static struct arena arena;

static bool has(struct str text, struct str needle)
{
    return str_find(text, needle) < text.len;
}

TEST(every_rule_has_its_page_and_its_line_in_the_manual)
{
    const struct str manual = test_read("docs/alerts.md");

    REQUIRE(manual.data != NULL, "docs/alerts.md");
    arena_init(&arena, (size_t)1 << 20);
    for (int i = 0; i < ALERT_RULE_COUNT; i++) {
        const struct alert_rule_row *row = &ALERT_RULES[i];
        char path[128], line[512];
        char hold[64];
        struct str page;

        (void)snprintf(path, sizeof(path), "docs/runbooks/%s.md", row->name);
        page = test_read(path);
        CHECK(page.data != NULL && has(page, str_of(row->name)) &&
                  has(page, STR("## What to look at")) && has(page, STR("## What to type")),
              path);
        (void)snprintf(hold, sizeof(hold), "%.*s",
                       STR_ARG(alert_limit_text(&arena, ALERT_SCHEDULE_LATE, row->hold_us)));
        (void)snprintf(
            line, sizeof(line), "| [`%s`](runbooks/%s.md) | %s | %.*s | %s | %s |\n", row->name,
            row->name, row->severity == ALERT_CRITICAL ? "critical" : "warning",
            STR_ARG(alert_limit_text(&arena, (enum alert_rule)i, row->limit)), hold, row->meaning);
        CHECK(has(manual, str_of(line)), line);
    }
    arena_release(&arena);
}

/* Whether a family of the program has the name; of a histogram also its parts. */
static bool is_exported(struct str name, struct str view, struct str meters)
{
    static const char *const parts[] = { "", "_bucket", "_sum", "_count" };
    char quoted[160];

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        const struct str part = str_of(parts[i]);

        if (!str_ends(name, part))
            continue;
        (void)snprintf(quoted, sizeof(quoted), "\"%.*s\"", (int)(name.len - part.len), name.data);
        if (has(view, str_of(quoted)) || has(meters, str_of(quoted)))
            return true;
    }
    return false;
}

TEST(what_prometheus_and_grafana_ask_for_is_exported)
{
    static const char *const files[] = { "deploy/prometheus/patra.rules.yaml",
                                         "deploy/grafana/patra.json", "docs/api.md" };
    const struct str view = test_read("src/view/metrics.c");
    const struct str meters = test_read("src/worker/meter_table.c");
    const struct str api = test_read("src/serve/api.c");
    int names = 0;

    REQUIRE(view.data != NULL && meters.data != NULL && api.data != NULL, "the program");
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct str rest = test_read(files[i]);
        size_t at;

        REQUIRE(rest.data != NULL, files[i]);
        while ((at = str_find(rest, STR("patra_"))) < rest.len) {
            struct str name = { rest.data + at, 0 };

            while (at + name.len < rest.len &&
                   (isalnum((unsigned char)name.data[name.len]) || name.data[name.len] == '_'))
                name.len++;
            rest = str_slice(rest, at + name.len, rest.len);
            names++;
            if (!is_exported(name, view, meters) && !is_exported(name, api, api))
                test_fail(__FILE__, __LINE__, "%s: nothing exports %.*s", files[i], STR_ARG(name));
        }
    }
    CHECK(names > 60, "they were found");
}

TEST(a_link_to_a_page_leads_somewhere)
{
    struct str rest = test_read("deploy/prometheus/patra.rules.yaml");
    char path[128];

    REQUIRE(rest.data != NULL, "rules");
    while (rest.len > 0) {
        struct str line = str_trim(str_cut(&rest, '\n'));

        if (!str_starts(line, STR("runbook: docs/")))
            continue;
        line = str_slice(line, strlen("runbook: "), line.len);
        (void)snprintf(path, sizeof(path), "%.*s", STR_ARG(line));
        CHECK(test_read(path).data != NULL, path);
    }
}

TEST(limits_are_written_as_their_rules_have_them)
{
    int64_t limit = 0;

    CHECK(alert_limit_parse(ALERT_CURSOR_BEHIND, STR("2h"), &limit) && limit == 2 * US_PER_HOUR,
          "a span");
    CHECK(!alert_limit_parse(ALERT_CURSOR_BEHIND, STR("20"), &limit), "no unit");
    CHECK(alert_limit_parse(ALERT_ERROR_RATE, STR("7%"), &limit) && limit == 7, "percent");
    CHECK(alert_limit_parse(ALERT_ERROR_RATE, STR("7"), &limit) && limit == 7, "without its sign");
    CHECK(!alert_limit_parse(ALERT_ERROR_RATE, STR("101%"), &limit), "more than all");
    CHECK(alert_limit_parse(ALERT_QUEUE_LONG, STR("10"), &limit) && limit == 10, "a count");
    CHECK(!alert_limit_parse(ALERT_QUEUE_LONG, STR("0"), &limit), "always");
    CHECK(!alert_limit_parse(ALERT_SOURCE_STOPPED, STR("1"), &limit), "it has none");
    CHECK(alert_rule_near(STR("cursor-behnd")) != NULL, "a near name");
}

TEST(a_receiver_takes_what_it_names)
{
    const struct str rules[] = { STR("cursor-behind") };
    const struct str sources[] = { STR("crossref") };
    struct alert_receiver r = { .severity = ALERT_WARNING };

    CHECK(alert_receiver_takes(&r, ALERT_CURSOR_BEHIND, STR("crossref")), "all");
    r.severity = ALERT_CRITICAL;
    CHECK(!alert_receiver_takes(&r, ALERT_CURSOR_BEHIND, STR("crossref")), "a warning");
    CHECK(alert_receiver_takes(&r, ALERT_SOURCE_STOPPED, STR("")), "critical");
    r = (struct alert_receiver){ .rules = rules, .rule_count = 1 };
    CHECK(!alert_receiver_takes(&r, ALERT_SOURCE_STOPPED, STR("crossref")), "another rule");
    r = (struct alert_receiver){ .sources = sources, .source_count = 1 };
    CHECK(!alert_receiver_takes(&r, ALERT_SUBSCRIPTION_DEAD, STR("")), "of no source");
    CHECK(alert_receiver_takes(&r, ALERT_SOURCE_STOPPED, STR("crossref")), "of this source");
}
