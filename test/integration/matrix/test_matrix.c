/* Every way of paging, against every fault of the simulator, on a real store: planned, harvested
 * under the fault, and once more when it is over. Then the store must hold the truth.
 *
 * While the fault lasts nothing may be shown as done that is not: every slice that has SUCCEEDED
 * holds all of its records, and so does everything before the cursor. At rest `patra-sim verify`
 * finds nothing wrong, the cursor stands at the end and its events replay to it, each version of a
 * record has one event, and no task is left.
 *
 *      MATRIX_SHAPE=offset MATRIX_FAULT="empty page"       one row, one column, one cell
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harvest.h"
#include "matrix_database.h"
#include "test.h"

enum outcome {
    MARK_NONE,      /* not tried */
    MARK_CLEAN,     /* as without the fault: the shape has no such thing */
    MARK_RECOVERED, /* all slices succeeded all the same */
    MARK_PARTIAL,   /* a slice ended PARTIAL, and was healed by the next trigger */
    MARK_FAILED,    /* a slice FAILED, and was healed */
    MARK_TOLD,      /* records were put aside, and came by an UPDATE or a BACKFILL */
    MARK_UNSEEN,    /* damage nobody can see: a BACKFILL brings what is missing */
    MARK_WRONG,
    MARKS,
};

static const char letters[MARKS + 1] = " .rpfq?X";

/* What strikes from some request on and does not stop by itself. */
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
    { "half of all", "rate=0.5 times=12 kind=status code=503", false },
};

struct matrix {
    const char *name;
    const struct sim_fault *faults;
    size_t count;
};

static struct stage stage;
static int64_t quiet[SIM_SHAPES]; /* requests without a fault */

/* ---- a cell ---- */

/* Healed, or told what is not: what was put aside comes by a BACKFILL, or came by an UPDATE in the
 * words of another endpoint. Bytes whose damage nobody could see stay until the record changes. */
static enum outcome heal(struct harvest *h, const struct sim_fault *fault, enum outcome mark,
                         const char **wrong)
{
    const struct sim_truth *truth = stage_truth(&stage, h->shape);
    const char *unseen = sim_fault_unseen(h->shape, fault);

    *wrong = harvest_verify(h);
    if (*wrong != NULL && (unseen != NULL || mark == MARK_TOLD)) {
        harvest_fire(h, "backfill");
        *wrong = !harvest_drain(h)           ? "the BACKFILL does not come to rest"
                 : harvest_verify(h) == NULL ? NULL
                 : unseen != NULL            ? NULL
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
    size_t told;

    harvest_fire(h, "harvest");
    *wrong = harvest_drain(h) ? NULL : "it does not come to rest under the fault";
    if (*wrong != NULL)
        return MARK_WRONG;
    *wrong = harvest_check_shown(h, stage_truth(&stage, h->shape), &told);
    if (*wrong != NULL && sim_fault_unseen(h->shape, fault) == NULL)
        return MARK_WRONG;
    if (h->counts.requests == quiet[h->shape - sim_shapes] && h->counts.retries == 0)
        mark = MARK_CLEAN;
    if (told > 0)
        mark = MARK_TOLD;
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

    harvest_open(&h, &stage, matrix_database(), shape, NULL);
    harvest_fire(&h, "harvest");
    CHECK(harvest_drain(&h), shape->name);
    quiet[shape - sim_shapes] = h.counts.requests;
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
    struct harvest h;
    const char *wrong = NULL;
    enum outcome mark;

    harvest_open(&h, &stage, matrix_database(), shape, NULL);
    sim_set_fault(stage.http, &h.arena, &stage.sim, sim_fault_rule(&h.arena, shape, fault).data);
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
    if (mark == MARK_WRONG)
        test_fail(__FILE__, __LINE__, "%s, %s: %s (%s)", shape->name, fault->name, wrong,
                  h.counts.reason);
    harvest_close(&h);
    return mark;
}

/* ---- the matrix ---- */

/* Unless MATRIX=full (make matrix): every shape with three faults, every fault with two shapes. */
static bool is_reduced(void)
{
    const char *asked = getenv("MATRIX");

    return asked == NULL || strcmp(asked, "full") != 0;
}

static bool is_asked(const char *variable, const char *name)
{
    const char *asked = getenv(variable);

    return asked == NULL || strcmp(asked, name) == 0;
}

static bool is_tried(const struct matrix *matrix, size_t s, size_t f)
{
    if (!is_asked("MATRIX_SHAPE", sim_shapes[s].name) ||
        !is_asked("MATRIX_FAULT", matrix->faults[f].name))
        return false;
    return !is_reduced() || f % SIM_SHAPES == s || (f + 7) % SIM_SHAPES == s ||
           (s + 3 * matrix->count / 4) % matrix->count == f || f == 4;
}

static void print(const struct matrix *matrix, enum outcome marks[SIM_SHAPES][SIM_FAULTS])
{
    int counts[MARKS] = { 0 };

    for (size_t s = 0; s < SIM_SHAPES; s++) {
        char row[SIM_FAULTS + 1] = "";

        for (size_t f = 0; f < matrix->count; f++) {
            row[f] = letters[marks[s][f]];
            counts[marks[s][f]]++;
        }
        row[matrix->count] = '\0';
        test_note("%-10s %s", sim_shapes[s].name, row);
    }
    test_note("columns:");
    for (size_t f = 0; f < matrix->count; f++)
        test_note("%3zu %s (%s)", f + 1, matrix->faults[f].name, matrix->faults[f].rule);
    test_note("%s: %zu faults, %d shapes%s: %d as without it (.), %d recovered (r), %d PARTIAL "
              "then healed (p), %d FAILED then healed (f), %d told and fetched again (q), %d "
              "unseen (?), %d WRONG (X)",
              matrix->name, matrix->count, SIM_SHAPES, is_reduced() ? ", reduced" : "",
              counts[MARK_CLEAN], counts[MARK_RECOVERED], counts[MARK_PARTIAL], counts[MARK_FAILED],
              counts[MARK_TOLD], counts[MARK_UNSEEN], counts[MARK_WRONG]);
}

static void run_matrix(const struct matrix *matrix)
{
    static const char *const options[] = { SIM_WORLD, NULL };
    static enum outcome marks[SIM_SHAPES][SIM_FAULTS];

    memset(marks, 0, sizeof(marks));
    stage_open(&stage, options);
    for (size_t s = 0; s < SIM_SHAPES; s++) {
        if (is_asked("MATRIX_SHAPE", sim_shapes[s].name))
            try_without(&sim_shapes[s]);
        for (size_t f = 0; f < matrix->count; f++) {
            if (is_tried(matrix, s, f))
                marks[s][f] = try_cell(&sim_shapes[s], &matrix->faults[f]);
        }
    }
    print(matrix, marks);
    stage_close(&stage);
}

TEST(every_shape_heals_from_every_fault)
{
    run_matrix(&(struct matrix){ "passing faults", sim_faults, SIM_FAULTS });
}

TEST(every_shape_heals_from_faults_that_last)
{
    run_matrix(&(struct matrix){ "lasting faults", lasting, ARRAY_LEN(lasting) });
}
