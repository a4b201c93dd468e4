/* fault: what is wrong with a source, all faults at once.
 *
 *      crossref.yaml:12:5: error: endpoints.works.page.next is missing [spec.page.token-needs-next]
 *        hint: write the path of the next token, such as $.meta.next_cursor
 *
 * Readers and checks of a source append to a list and continue, so that one run reports everything.
 * A source with warnings still works; they are kept in record_remarks of each plan. Messages never
 * quote a value that may be a secret.
 */
#ifndef PATRA_SPEC_FAULT_H
#define PATRA_SPEC_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* A place in a file, both from 1; columns count characters. Line 0: unknown (rows of a store). */
struct mark {
    uint32_t line;
    uint32_t column;
};

enum fault_severity { FAULT_ERROR, FAULT_WARNING };

/* What a source lacks, by a warning: patra finds another way, and a plan's remarks name it. */
enum fault_lack {
    FAULT_LACKS_NOTHING,
    FAULT_LACKS_TOTAL,      /* completeness cannot be proved by counting */
    FAULT_LACKS_HAS_MORE,   /* a short page is the last */
    FAULT_LACKS_LAST_PAGE,  /* a full last page looks like one that lost its next */
    FAULT_LACKS_UPDATED_AT, /* the content decides whether a record changed */
};

struct fault {
    enum fault_severity severity;
    const char *code; /* stable: "spec.page.token-needs-next" */
    struct mark at;
    struct str message; /* names the field */
    struct str hint;    /* what to do about it; may be empty */
    enum fault_lack lacks;
};

/* More than a person reads; further faults are only counted. */
enum { FAULTS_MAX = 500 };

struct fault_list {
    struct arena *arena;
    struct fault *items;
    size_t count;
    size_t errors;   /* those of severity FAULT_ERROR, also beyond FAULTS_MAX */
    size_t warnings; /* the others */
    bool takes_hint; /* the last fault was kept */
    bool failed;     /* the arena is full: the list is incomplete */
};

void fault_list_init(struct fault_list *list, struct arena *arena);

/* The same text about the same place is kept once: several endpoints may inherit one fault. */
void fault_error(struct fault_list *list, const char *code, struct mark at, const char *format, ...)
    PRINTF_LIKE(4, 5);
void fault_warn(struct fault_list *list, const char *code, struct mark at, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* These belong to the fault added last. */
void fault_hint(struct fault_list *list, const char *format, ...) PRINTF_LIKE(2, 3);
void fault_lacks(struct fault_list *list, enum fault_lack lacks);

/* Sorts by place in the file, faults without a place first. Equal places keep their order. */
void fault_list_sort(struct fault_list *list);

/* Prints one fault as shown above. `file` may be empty: the line then starts with "error:". */
void fault_print(const struct fault *fault, struct str file, struct buf *out);

/* Turns a list with errors into one L2 error "spec.invalid" that quotes the first of them. True
 * when there is none (warnings do not count). An incomplete list is an error. */
bool fault_list_ok(const struct fault_list *list, struct error *err) MUST_CHECK;

#endif
