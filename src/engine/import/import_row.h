/* import_row: what becomes of the rows of a page of a foreign outbox. Decides, and touches nothing.
 */
#ifndef PATRA_ENGINE_IMPORT_IMPORT_ROW_H
#define PATRA_ENGINE_IMPORT_IMPORT_ROW_H

#include "base/attr.h"
#include "core/import_spec.h"
#include "port/foreign_outbox.h"
#include "port/store_outbox.h"

enum import_verdict {
    IMPORT_TAKE,   /* it is the next one of its aggregate */
    IMPORT_REPEAT, /* it was imported before */
    IMPORT_REFUSE, /* for a reason */
    IMPORT_WAIT,   /* a lower version of its aggregate was refused */
    IMPORT_GAP,    /* a lower version may yet come */
};

struct import_row {
    const struct foreign_row *row;
    struct foreign_event event;
    struct foreign_place place;
    enum import_verdict verdict;
    struct str reason; /* of a refusal, or what it waits for */
};

/* Whether the gap before this row was seen before, and all who could have filled it have ended. */
struct import_gaps {
    bool (*is_settled)(void *context, const struct import_row *row);
    void *context;
};

/* The event that a row is. False when memory ran out or no hash could be made; a row that cannot be
 * an event has the verdict IMPORT_REFUSE. */
bool import_row_make(struct import_row *row, struct arena *arena, const struct import_spec *spec,
                     struct error *err) MUST_CHECK;

/* By aggregate and version; rows that have no aggregate come first. */
void import_rows_sort(struct import_row *rows, size_t count);

/* Rows that are sorted, with their places. */
bool import_rows_judge(struct import_row *rows, size_t count, struct arena *arena,
                       enum import_late late, const struct import_gaps *gaps,
                       struct error *err) MUST_CHECK;

/* -1, 0 or 1, by aggregate. */
int import_key_order(const struct foreign_event *a, const struct foreign_event *b);

#endif
