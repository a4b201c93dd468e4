/* Reads the lines of /_sim/truth, and finds one by its id. */
#include "sim_truth.h"

#include "base/list.h"
#include "data/date.h"
#include "data/hash.h"
#include "data/json.h"
#include "test.h"

static struct str member(struct arena *arena, const struct json_doc *doc, const char *name)
{
    const struct json_node value = json_get(doc, json_root(doc), str_of(name));
    struct str text = { 0 };
    struct error err;

    if (json_exists(value))
        REQUIRE_OK(json_string(doc, value, arena, &text, &err), err);
    return text;
}

/* One line: {"id":...,"version":...,"updated_at":...,"sha256":...,"state":...}. */
static void read_line(struct sim_truth *truth, struct arena *arena, struct str line)
{
    struct json_doc doc;
    struct sim_truth_row *row;
    struct error err;
    struct date date = { 0 };
    struct str id, state;

    REQUIRE_OK(json_parse(&doc, arena, line, &err), err);
    id = member(arena, &doc, "id");
    if (id.data == NULL)
        return; /* the summary */
    state = member(arena, &doc, "state");
    row = LIST_ADD(arena, truth);
    REQUIRE(row != NULL, "memory");
    *row = (struct sim_truth_row){ .id = id, .sha256 = member(arena, &doc, "sha256") };
    row->is_wanted = !str_eq(state, STR("moved")) && !str_eq(state, STR("gone"));
    row->is_dead = !str_eq(state, STR("live"));
    truth->wanted += row->is_wanted;
    if (!row->is_wanted)
        return;
    REQUIRE_OK(date_parse(date_format_find(STR("rfc3339")), member(arena, &doc, "updated_at"),
                          &date, &err),
               err);
    row->at_us = date.at_us;
}

void sim_truth_read(struct sim_truth *truth, struct arena *arena, struct str lines)
{
    lines = arena_copy(arena, lines);
    while (lines.len > 0) {
        const struct str line = str_cut(&lines, '\n');

        if (line.len > 0)
            read_line(truth, arena, line);
    }
}

const struct sim_truth_row *sim_truth_find(const struct sim_truth *truth, struct str id)
{
    size_t low = 0, high = truth->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (str_cmp(truth->items[middle].id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < truth->count && str_eq(truth->items[low].id, id) ? &truth->items[low] : NULL;
}

bool sim_truth_has_bytes(const struct sim_truth_row *row, struct arena *arena, struct str payload)
{
    const struct str element = STR("<record");
    const struct str added = STR("<record xmlns=\"http://www.openarchives.org/OAI/2.0/\"");
    char hex[HASH_HEX_MAX];
    struct hash_sum sum;
    struct error err;

    if (str_starts(payload, added))
        payload = arena_printf(arena, "%.*s%.*s", STR_ARG(element),
                               STR_ARG(str_slice(payload, added.len, payload.len)));
    REQUIRE_OK(hash_of(payload, &sum, &err), err);
    hash_hex(&sum, hex);
    return str_eq(str_of(hex), row->sha256);
}

struct str sim_truth_some_id(const struct sim_truth *truth)
{
    for (size_t i = 0; i < truth->count; i++) {
        const struct sim_truth_row *row = &truth->items[(i + truth->count / 2) % truth->count];

        if (row->is_wanted && !row->is_dead)
            return row->id;
    }
    REQUIRE(false, "a record");
    return STR("");
}
