/* reader: where a view is read from.
 *
 * A view is what people and programs see of one subject: it gathers rows from the store into a
 * struct, judges them, and writes the struct as one JSON value. Commands print views; the HTTP API
 * serves the same JSON. A view knows no terminal and no command line, and it changes nothing.
 *
 *      const struct view_reader reader = { .store = store, .arena = arena, .now_us = now_us };
 *      struct view_task task;
 *
 *      if (!view_task(&reader, &(struct view_task_filter){ .id = 7 }, &task, err)) ...
 *      view_task_write(&w, &task);
 *
 * Lists are read in pages: a list that is_full may have more rows after its last one.
 */
#ifndef PATRA_VIEW_READER_H
#define PATRA_VIEW_READER_H

#include "base/arena.h"
#include "base/attr.h"
#include "port/clock.h"
#include "port/secret.h"
#include "port/store.h"

struct view_reader {
    struct store *store;
    struct arena *arena; /* holds the view and everything it points to */
    int64_t now_us;      /* this machine's clock: sources are read as in force at this instant */
    struct clock *clock; /* the same, to be compared with what the store has seen */
    struct secret_source *secrets; /* of this machine, for references that select records; NULL:
                                      operations that have one are left out */
};

/* For a list that came out empty, because the name may be misspelled: false ("source.unknown")
 * when there is no such source. '' means that no source was named, and passes. */
bool view_source_check(const struct view_reader *reader, struct str source,
                       struct error *err) MUST_CHECK;

#endif
