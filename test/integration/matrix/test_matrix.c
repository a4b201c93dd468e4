/* Every way of paging, against every fault of the simulator, on a real store: planned, harvested
 * under the fault, and harvested again when it is over. Then the store must hold the truth.
 *
 * While the fault lasts, nothing incomplete may be shown as done: every slice that has SUCCEEDED
 * has all of its records, and so does everything before the cursor. At rest `patra-sim verify`
 * finds nothing wrong, the cursor is at the end and its events replay to it, each version of a
 * record has one event, and no task is left.
 *
 *      MATRIX_SHAPE=offset MATRIX_FAULT="empty page"       one row, one column, one cell
 *      MATRIX_SHAPE=offset/page0/page1                     several rows
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "harvest.h"
#include "test.h"

enum outcome {
    MARK_NONE,        /* not tried */
    MARK_IDLE,        /* as without the fault, and sim_fault_idle() says why */
    MARK_RECOVERED,   /* all slices succeeded all the same */
    MARK_PARTIAL,     /* a slice ended PARTIAL, and was healed by the next trigger */
    MARK_FAILED,      /* a slice FAILED, and was healed */
    MARK_QUARANTINED, /* records were quarantined; an UPDATE or a BACKFILL fetched them */
    MARK_UNSEEN,      /* damage that cannot be seen: a BACKFILL fetches what is missing */
    MARK_WRONG,
    MARKS,
};

static const struct {
    char letter;
    const char *meaning;
} legend[MARKS] = {
    [MARK_NONE] = { ' ', "not tried" },
    [MARK_IDLE] = { '-', "does not apply, or does no harm; the reason is below" },
    [MARK_RECOVERED] = { 'r', "noticed, and every slice SUCCEEDED all the same" },
    [MARK_PARTIAL] = { 'p', "a slice ended PARTIAL, the next trigger healed it" },
    [MARK_FAILED] = { 'f', "a slice FAILED, the next trigger healed it" },
    [MARK_QUARANTINED] = { 'q', "records were quarantined or signalled, and fetched again" },
    [MARK_UNSEEN] = { '?', "damage that cannot be seen from outside; the reason is below" },
    [MARK_WRONG] = { 'X', "WRONG" },
};

/* What happens from some request on and does not stop by itself. */
static const struct sim_fault lasting[] = {
    { "500, lasting", "from=3 kind=status code=500", false },
    { "404, lasting", "from=3 kind=status code=404 body=html", false },
    { "401, lasting", "from=3 kind=status code=401", false },
    { "close, lasting", "from=3 kind=close", false },
    { "truncate right, lasting", "from=3 kind=truncate keep=50", false },
    { "truncate short, lasting", "from=3 kind=truncate keep=50 length=short", false },
    { "garbage, lasting", "from=3 kind=garbage bytes=300", false },
    { "html, lasting", "from=3 kind=html keep_type", false },
    { "empty, lasting", "from=3 kind=empty", false },
    { "body error, lasting", "from=3 kind=body_error", false },
    { "repeat page, lasting", "from=3 kind=repeat_page", false },
    { "shift page, lasting", "from=3 kind=shift_page", false },
    { "repeat token, lasting", "from=3 kind=repeat_token", false },
    { "expired token, lasting", "from=3 kind=expired_token", false },
    { "moving total, lasting", "from=3 kind=moving_total", false },
    { "next elsewhere, lasting", "from=3 kind=next_elsewhere", false },
    { "no id, lasting", "from=3 kind=record_no_id", false },
    { "no date, lasting", "from=3 kind=record_no_date", false },
    { "bad date, lasting", "from=3 kind=record_bad_date", false },
    { "missing details, lasting", "from=3 kind=missing_details", false },
    { "list an object, lasting", "from=3 kind=reshape member=LIST as=object", false },
    { "error object, lasting", "from=3 kind=reshape as=object", false },
    { "no list, lasting", "from=3 kind=reshape member=LIST as=nothing", false },
    { "no total, lasting", "from=3 kind=reshape member=TOTAL as=nothing", false },
    { "null total, lasting", "from=3 kind=reshape member=TOTAL as=null", false },
    { "no next, lasting", "from=3 kind=reshape member=NEXT as=nothing", false },
    { "next an object, lasting", "from=3 kind=reshape member=NEXT as=wrapped", false },
    { "other content, lasting", "from=3 kind=reshape member=TITLE as=altered", false },
    { "half of all", "rate=0.5 times=12 kind=status code=503", false },
};

struct matrix {
    const char *name;
    const struct sim_fault *faults;
    size_t count;
    enum outcome marks[SIM_SHAPES][SIM_FAULTS];
};

static struct stage stage;
static int64_t quiet[SIM_SHAPES]; /* requests without a fault */

/* ---- a cell ---- */

/* What is missing is quarantined or signalled, also where slices failed beside that. */
static bool is_listed(struct harvest *h)
{
    size_t missing;

    return harvest_check_shown(h, stage_truth(&stage, h->shape), &missing) == NULL && missing > 0;
}

/* What was quarantined, and damage that could not be seen, is fetched by a BACKFILL: the later
 * observation wins, whatever the date. Or it was fetched by an UPDATE from another endpoint, which
 * writes the same record differently. */
static enum outcome heal(struct harvest *h, const struct sim_fault *fault, enum outcome mark,
                         const char **wrong)
{
    const struct sim_truth *truth = stage_truth(&stage, h->shape);
    const char *unseen = sim_fault_unseen(h->shape, fault);

    *wrong = harvest_verify(h);
    if (*wrong != NULL && unseen == NULL && is_listed(h))
        mark = MARK_QUARANTINED;
    if (*wrong != NULL && (unseen != NULL || mark == MARK_QUARANTINED)) {
        harvest_again(h);
        *wrong = !harvest_drain(h)           ? "the BACKFILL does not come to rest"
                 : harvest_verify(h) == NULL ? NULL
                                             : harvest_check_forms(h, truth);
        if (unseen != NULL)
            mark = MARK_UNSEEN;
    }
    if (*wrong == NULL)
        *wrong = harvest_check_rest(h, truth);
    return *wrong == NULL ? mark : MARK_WRONG;
}

static enum outcome under_fault(struct harvest *h, const struct sim_fault *fault,
                                const char **wrong)
{
    enum outcome mark = MARK_RECOVERED;
    size_t missing;

    harvest_fire(h, "harvest");
    *wrong = harvest_drain(h) ? NULL : "it does not come to rest under the fault";
    if (*wrong != NULL)
        return MARK_WRONG;
    *wrong = harvest_check_shown(h, stage_truth(&stage, h->shape), &missing);
    if (*wrong != NULL && sim_fault_unseen(h->shape, fault) == NULL)
        return MARK_WRONG;
    if (h->counts.requests == quiet[h->shape - sim_shapes] && h->counts.retries == 0)
        mark = sim_fault_unseen(h->shape, fault) != NULL && harvest_verify(h) != NULL ? MARK_UNSEEN
                                                                                      : MARK_IDLE;
    if (missing > 0)
        mark = MARK_QUARANTINED;
    if (h->counts.tasks[TASK_PARTIAL] > 0)
        mark = MARK_PARTIAL;
    if (h->counts.tasks[TASK_FAILED] > 0)
        mark = MARK_FAILED;
    return mark;
}

static void try_without(const struct sim_shape *shape)
{
    struct harvest h;
    const char *wrong;

    harvest_open(&h, &stage, contract_ready_database(), shape, NULL);
    harvest_fire(&h, "harvest");
    CHECK(harvest_drain(&h), shape->name);
    quiet[shape - sim_shapes] = h.counts.requests;
    page_need_check(shape->name, h.counts.requests, harvest_need(&h, stage_truth(&stage, shape)));
    wrong = harvest_verify(&h);
    if (wrong == NULL)
        wrong = harvest_check_rest(&h, stage_truth(&stage, shape));
    if (wrong != NULL || h.counts.tasks[TASK_PARTIAL] + h.counts.tasks[TASK_FAILED] > 0)
        test_fail(__FILE__, __LINE__, "%s, without faults: %s (%s)", shape->name,
                  wrong != NULL ? wrong : "", h.counts.reason);
    harvest_close(&h);
}

static enum outcome try_cell(const struct sim_shape *shape, const struct sim_fault *fault)
{
    const struct sim_truth *truth = stage_truth(&stage, shape);
    struct harvest h;
    const char *wrong = NULL;
    enum outcome mark;

    harvest_open(&h, &stage, contract_ready_database(), shape, NULL);
    sim_set_fault(stage.http, &h.arena, &stage.sim,
                  sim_fault_rule(&h.arena, shape, fault, sim_truth_some_id(truth)).data);
    mark = under_fault(&h, fault, &wrong);
    sim_set_fault(stage.http, &h.arena, &stage.sim, NULL);
    if (mark != MARK_WRONG) {
        (void)harvest_lift(&h);
        harvest_fire(&h, "harvest");
        if (!harvest_drain(&h))
            wrong = "it does not come to rest";
        if (shape->update != NULL) {
            harvest_fire(&h, shape->update);
            (void)harvest_drain(&h);
        }
        mark = heal(&h, fault, mark, &wrong);
    }
    if (mark == MARK_IDLE && sim_fault_idle(shape, fault) == NULL) {
        wrong = "the fault had no effect, and no reason is listed";
        mark = MARK_WRONG;
    }
    if (mark == MARK_WRONG)
        test_fail(__FILE__, __LINE__, "%s, %s: %s (%s)", shape->name, fault->name, wrong,
                  h.counts.reason);
    harvest_close(&h);
    return mark;
}

/* ---- the matrix ---- */

/* Unless MATRIX=full (make matrix): every shape with three faults, every fault with two shapes; in
 * a slow build every fault with one. */
static bool is_reduced(void)
{
    const char *asked = getenv("MATRIX");

    return asked == NULL || strcmp(asked, "full") != 0;
}

/* Whether a variable names it, among others, or is not set. */
static bool is_asked(const char *variable, const char *name)
{
    struct str asked = str_of(getenv(variable));

    if (asked.len == 0)
        return true;
    while (asked.len > 0) {
        if (str_eq(str_cut(&asked, '/'), str_of(name)))
            return true;
    }
    return false;
}

/* Cells that were wrong once. */
static bool is_remembered(const struct matrix *matrix, size_t s, size_t f)
{
    return strcmp(sim_shapes[s].name, "time") == 0 &&
           strcmp(matrix->faults[f].name, "bad date, lasting") == 0;
}

static bool is_tried(const struct matrix *matrix, size_t s, size_t f)
{
    if (!is_asked("MATRIX_SHAPE", sim_shapes[s].name) ||
        !is_asked("MATRIX_FAULT", matrix->faults[f].name))
        return false;
    if (!is_reduced() || is_remembered(matrix, s, f) || f % SIM_SHAPES == s ||
        (s + 3 * matrix->count / 4) % matrix->count == f)
        return true;
    return !TEST_IS_SLOW && ((f + 7) % SIM_SHAPES == s || f == 4);
}

struct reason {
    enum outcome mark;
    const char *(*of)(const struct sim_shape *shape, const struct sim_fault *fault);
    const char *text;
};

static bool has_reason(const struct matrix *matrix, size_t s, size_t f, const struct reason *reason)
{
    const char *text = reason->of(&sim_shapes[s], &matrix->faults[f]);

    return matrix->marks[s][f] == reason->mark && text != NULL && strcmp(text, reason->text) == 0;
}

/* The shapes that have this mark for this reason, in one line. */
static void print_reason(const struct matrix *matrix, size_t f, const struct reason *reason)
{
    char line[256] = "";
    size_t len = 0;

    for (size_t s = 0; s < SIM_SHAPES; s++) {
        if (has_reason(matrix, s, f, reason))
            len += (size_t)snprintf(line + len, sizeof(line) - len, " %s", sim_shapes[s].name);
    }
    test_note("%c %2zu %s:%s: %s", legend[reason->mark].letter, f + 1, matrix->faults[f].name, line,
              reason->text);
}

static void print_reasons(const struct matrix *matrix, size_t f, struct reason reason)
{
    for (size_t s = 0; s < SIM_SHAPES; s++) {
        size_t before = 0;

        reason.text = reason.of(&sim_shapes[s], &matrix->faults[f]);
        if (reason.text == NULL || !has_reason(matrix, s, f, &reason))
            continue;
        while (before < s && !has_reason(matrix, before, f, &reason))
            before++;
        if (before == s)
            print_reason(matrix, f, &reason);
    }
}

static void print_row(const char *name, const char *cells, size_t count)
{
    char row[2 * SIM_FAULTS] = "";
    size_t len = 0;

    for (size_t f = 0; f < count; f++) {
        if (f > 0 && f % 10 == 0)
            row[len++] = ' ';
        row[len++] = cells[f];
    }
    test_note("%-10s %.*s", name, (int)len, row);
}

static void print_rows(const struct matrix *matrix)
{
    char tens[SIM_FAULTS], ones[SIM_FAULTS], cells[SIM_FAULTS];

    for (size_t f = 0; f < matrix->count; f++) {
        tens[f] = f < 9 ? ' ' : (char)('0' + (f + 1) / 10);
        ones[f] = (char)('0' + (f + 1) % 10);
    }
    print_row(matrix->name, tens, matrix->count);
    print_row("", ones, matrix->count);
    for (size_t s = 0; s < SIM_SHAPES; s++) {
        for (size_t f = 0; f < matrix->count; f++)
            cells[f] = legend[matrix->marks[s][f]].letter;
        print_row(sim_shapes[s].name, cells, matrix->count);
    }
}

static void print(const struct matrix *matrix)
{
    size_t counts[MARKS] = { 0 };

    print_rows(matrix);
    for (size_t f = 0; f < matrix->count; f++)
        test_note("%3zu %s (%s)", f + 1, matrix->faults[f].name, matrix->faults[f].rule);
    for (size_t i = 0; i < SIM_SHAPES * matrix->count; i++)
        counts[matrix->marks[i / matrix->count][i % matrix->count]]++;
    for (int mark = MARK_NONE; mark < MARKS; mark++)
        test_note("%4zu '%c' %s", counts[mark], legend[mark].letter, legend[mark].meaning);
    for (size_t f = 0; f < matrix->count; f++) {
        print_reasons(matrix, f, (struct reason){ .mark = MARK_IDLE, .of = sim_fault_idle });
        print_reasons(matrix, f, (struct reason){ .mark = MARK_UNSEEN, .of = sim_fault_unseen });
    }
    test_note("%s%s: %d kinds x %zu faults, %zu cells tried, %zu wrong", matrix->name,
              is_reduced() ? " (a sample)" : "", SIM_SHAPES, matrix->count,
              SIM_SHAPES * matrix->count - counts[MARK_NONE], counts[MARK_WRONG]);
}

static void run_matrix(struct matrix *matrix)
{
    static const char *const options[] = { SIM_WORLD, NULL };

    stage_open(&stage, options);
    for (size_t s = 0; s < SIM_SHAPES; s++) {
        if (is_asked("MATRIX_SHAPE", sim_shapes[s].name))
            try_without(&sim_shapes[s]);
        for (size_t f = 0; f < matrix->count; f++) {
            if (is_tried(matrix, s, f))
                matrix->marks[s][f] = try_cell(&sim_shapes[s], &matrix->faults[f]);
        }
    }
    print(matrix);
    stage_close(&stage);
}

TEST(every_shape_heals_from_every_fault)
{
    run_matrix(&(struct matrix){ .name = "passing", .faults = sim_faults, .count = SIM_FAULTS });
}

TEST(every_shape_heals_from_faults_that_last)
{
    run_matrix(
        &(struct matrix){ .name = "lasting", .faults = lasting, .count = ARRAY_LEN(lasting) });
}
