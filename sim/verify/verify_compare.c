/* Merges two streams of the same order and counts the differences. */
#include <assert.h>
#include <string.h>

#include "sim/verify/verify.h"

enum { ID_MAX = 2048 };

struct comparison {
    struct arena *arena;
    struct store_reader *store;
    struct truth_reader *truth;
    const struct verify_options *options;
    struct verify_report *report;
    struct truth_line line;
    struct store_row row;
    bool line_end;
    bool row_end;
    char id[ID_MAX]; /* of the line, as the store spells it */
    size_t id_len;
};

static bool note(struct comparison *comparison, enum difference difference, struct str id,
                 struct error *err)
{
    struct verify_report *report = comparison->report;
    const size_t n = report->counts[difference]++;

    if (n >= comparison->options->show)
        return true;
    report->ids[difference][n] = arena_copy(comparison->arena, id);
    return report->ids[difference][n].data != NULL || arena_error(comparison->arena, err);
}

static struct str line_id(const struct comparison *comparison)
{
    return (struct str){ comparison->id, comparison->id_len };
}

/* Replaces the first `from` in `text` by `to`, into `out`; false when there is none. */
static bool replace(struct str text, struct str from, struct str to, char *out, size_t *len)
{
    const size_t at = str_find(text, from);
    const struct str parts[] = { str_slice(text, 0, at), to,
                                 str_slice(text, at + from.len, text.len) };

    if (at == text.len || text.len - from.len + to.len > ID_MAX)
        return false;
    *len = 0;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i].len > 0)
            memcpy(out + *len, parts[i].data, parts[i].len);
        *len += parts[i].len;
    }
    return true;
}

static void map_id(struct comparison *comparison, struct str id)
{
    const struct verify_options *options = comparison->options;

    for (size_t i = 0; i < options->map_count; i++) {
        if (replace(id, options->maps[i].from, options->maps[i].to, comparison->id,
                    &comparison->id_len))
            return;
    }
    assert(id.len <= ID_MAX);
    memcpy(comparison->id, id.data, id.len);
    comparison->id_len = id.len;
}

static bool next_line(struct comparison *comparison, struct error *err)
{
    char before[ID_MAX];
    const struct str last = { before, comparison->id_len };

    memcpy(before, comparison->id, comparison->id_len);
    if (!comparison->truth->next(comparison->truth, &comparison->line, &comparison->line_end, err))
        return false;
    if (comparison->line_end)
        return true;
    map_id(comparison, comparison->line.id);
    comparison->report->expected[comparison->line.state]++;
    return str_cmp(last, line_id(comparison)) < 0 ||
           error_set(err, ERROR_REQUEST, "verify.order",
                     "'%.*s' does not sort after '%.*s': an id map must keep the order",
                     STR_ARG(line_id(comparison)), STR_ARG(last));
}

static bool next_row(struct comparison *comparison, struct error *err)
{
    if (!comparison->store->next(comparison->store, &comparison->row, &comparison->row_end, err))
        return false;
    comparison->report->rows += !comparison->row_end;
    return true;
}

/* Looks up an id of the store in the truth, undoing each id map in turn. */
static bool look(struct comparison *comparison, struct truth_look *found, struct error *err)
{
    const struct verify_options *options = comparison->options;
    const struct store_row *row = &comparison->row;
    struct truth_reader *truth = comparison->truth;

    if (!truth->look(truth, row->id, row->digest, found, err))
        return false;
    for (size_t i = 0; !found->exists && i < options->map_count; i++) {
        char id[ID_MAX];
        size_t len;

        if (options->maps[i].to.len == 0) { /* a prefix was removed */
            if (options->maps[i].from.len + row->id.len > ID_MAX)
                continue;
            len = options->maps[i].from.len;
            memcpy(id, options->maps[i].from.data, len);
            memcpy(id + len, row->id.data, row->id.len);
            len += row->id.len;
        } else if (!replace(row->id, options->maps[i].to, options->maps[i].from, id, &len)) {
            continue;
        }
        if (!truth->look(truth, (struct str){ id, len }, row->digest, found, err))
            return false;
    }
    return true;
}

/* The store holds it, but need not. */
static bool judge_extra(struct comparison *comparison, struct error *err)
{
    struct truth_look found;

    if (!look(comparison, &found, err))
        return false;
    if (!found.exists)
        return note(comparison, DIFF_EXTRA, comparison->row.id, err);
    if (!found.served && !comparison->row.deleted)
        return note(comparison, DIFF_WRONG, comparison->row.id, err);
    comparison->report->allowed++;
    return true;
}

static int64_t floor_to(int64_t at_us, int64_t unit_us)
{
    const int64_t rest = at_us % unit_us;

    return at_us - (rest < 0 ? rest + unit_us : rest);
}

/* A body gives its date with limited precision; further digits in the store do not matter. */
static bool date_fits(const struct comparison *comparison)
{
    const int64_t unit_us = comparison->truth->form->date_unit_us;
    const int64_t told_us = comparison->line.updated_us + comparison->truth->zone_us;

    return unit_us == 0 || !comparison->row.has_date ||
           floor_to(comparison->row.updated_us, unit_us) == floor_to(told_us, unit_us);
}

static bool judge_pair(struct comparison *comparison, struct error *err)
{
    const struct store_row *row = &comparison->row;
    struct truth_look found;

    if (comparison->line.state != TRUTH_LIVE) {
        if (!row->deleted)
            return note(comparison, DIFF_LOST_TOMBSTONE, row->id, err);
        comparison->report->right++;
        return true;
    }
    if (row->deleted)
        return note(comparison, DIFF_BURIED, row->id, err);
    if (memcmp(row->digest, comparison->line.digest, sizeof(row->digest)) != 0) {
        if (!look(comparison, &found, err))
            return false;
        return note(comparison, found.served ? DIFF_STALE : DIFF_WRONG, row->id, err);
    }
    if (!date_fits(comparison))
        return note(comparison, DIFF_MISDATED, row->id, err);
    comparison->report->right++;
    comparison->report->undated += !row->has_date;
    return true;
}

static bool judge_missing(struct comparison *comparison, struct error *err)
{
    if (comparison->line.state == TRUTH_LIVE)
        return note(comparison, DIFF_MISSING, line_id(comparison), err);
    if (comparison->options->absent_tombstones) {
        comparison->report->right++;
        return true;
    }
    return note(comparison, DIFF_LOST_TOMBSTONE, line_id(comparison), err);
}

bool verify_compare(struct arena *arena, struct store_reader *store, struct truth_reader *truth,
                    const struct verify_options *options, struct verify_report *report,
                    struct error *err)
{
    struct comparison comparison = {
        .arena = arena, .store = store, .truth = truth, .options = options, .report = report
    };

    *report = (struct verify_report){ 0 };
    if (!next_line(&comparison, err) || !next_row(&comparison, err))
        return false;
    while (!comparison.line_end || !comparison.row_end) {
        const int order = comparison.line_end  ? 1
                          : comparison.row_end ? -1
                                               : str_cmp(line_id(&comparison), comparison.row.id);

        if (!(order < 0   ? judge_missing(&comparison, err)
              : order > 0 ? judge_extra(&comparison, err)
                          : judge_pair(&comparison, err)))
            return false;
        if (order <= 0 && !next_line(&comparison, err))
            return false;
        if (order >= 0 && !next_row(&comparison, err))
            return false;
    }
    return true;
}
