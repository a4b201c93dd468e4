/* signals: records that an update is to look at again, as people and programs see them. */
#ifndef PATRA_VIEW_SIGNALS_H
#define PATRA_VIEW_SIGNALS_H

#include "data/json_write.h"
#include "port/store_signal.h"
#include "view/reader.h"

struct view_signal_list {
    struct signal *items; /* the oldest first */
    size_t count;
    bool is_full; /* as many as filter.limit allows: there may be later ones */
};

/* "source.unknown" (L2) where the filter names a source that does not exist. */
bool view_signal_list(const struct view_reader *reader, const struct signal_filter *filter,
                      struct view_signal_list *list, struct error *err) MUST_CHECK;
void view_signal_list_write(struct json_writer *w, const struct view_signal_list *list);

struct view_source_names {
    struct str *items;
    size_t count;
};

/* The sources of the list that have no update for their signals, each once. */
bool view_signal_list_idle(const struct view_reader *reader, const struct view_signal_list *list,
                           struct view_source_names *idle, struct error *err) MUST_CHECK;

/* Whether an update of the source takes its signals: one by id that has `signal` among its
 * candidates. They are collected either way, because nothing else knows what a source has lost. */
bool view_signals_are_taken(const struct view_reader *reader, struct str source, bool *are_taken,
                            struct error *err) MUST_CHECK;

/* What to say where they are not; in the arena. */
struct str view_signals_idle_text(struct arena *arena, struct str source);

#endif
