/* gate: rate gates from both sides: what the source files configure, and what the store has
 * learned. */
#ifndef PATRA_VIEW_GATE_H
#define PATRA_VIEW_GATE_H

#include "core/wait.h"
#include "data/json_write.h"
#include "engine/gate/gate.h"
#include "spec/spec.h"
#include "view/reader.h"

struct view_gate {
    struct str key;
    bool is_configured;    /* false: its source was removed, or has another key by now */
    struct spec_rate rate; /* the settings of the first endpoint that shares it */
    struct str of;         /* "crossref/works", and others that share it */
    struct str source;     /* the first of them */
    struct str credential; /* its name, where the source has several */
    struct gate_view view;
};

struct view_gate_list {
    struct view_gate *items;
    size_t count;
};

struct view_gate_filter {
    const struct str *sources; /* whose gates */
    size_t source_count;
    bool with_unconfigured; /* also keys that are in the store and in no source */
    int64_t now_us;         /* the store's clock, which cool-downs and quotas are kept by */
};

bool view_gate_list(const struct view_reader *reader, const struct view_gate_filter *filter,
                    struct view_gate_list *list, struct error *err) MUST_CHECK;
void view_gate_list_write(struct json_writer *w, const struct view_gate_list *list, int64_t now_us);

/* The configured limits that hold: with a credential or without, as its requests are sent. Before
 * the first request it is unknown whether an optional credential is set: without. */
struct spec_rate_limit view_gate_limit(const struct view_gate *gate);

/* Why a gate lets nothing through, and until when. */
struct view_gate_block {
    bool is_blocked; /* false: it is open, and the rest says nothing */
    int64_t until_us;
    enum wait_reason reason;
};
struct view_gate_block view_gate_block(const struct view_gate *gate, int64_t now_us);

#endif
