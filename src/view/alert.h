/* alert: what is wrong, was wrong, and who was notified. */
#ifndef PATRA_VIEW_ALERT_H
#define PATRA_VIEW_ALERT_H

#include "core/alert.h"
#include "data/json_write.h"
#include "port/store_alert.h"
#include "view/reader.h"

/* The limits in force: the defaults, and what a person has set. */
bool view_alert_limits(const struct view_reader *reader, struct alert_limits *limits,
                       struct error *err) MUST_CHECK;

/* All that the rules find now, and the limits by which they did: what `patra status` says, and
 * what shows only in the runs of the last days. */
struct view_findings {
    int64_t now_us; /* the store's clock */
    struct alert_limits limits;
    struct alert_finding_list list;
};
bool view_findings(const struct view_reader *reader, struct view_findings *findings,
                   struct error *err) MUST_CHECK;

/* ---- alerts ---- */

struct view_alert {
    struct alert alert;
    bool is_silenced;
    struct str runbook; /* the page of its rule */
};

struct view_alert_list {
    struct view_alert *items;
    size_t count;
    struct alert_silence_list silences; /* in force */
};

bool view_alert_list(const struct view_reader *reader, const struct alert_query *query,
                     struct view_alert_list *list, struct error *err) MUST_CHECK;
void view_alert_list_write(struct json_writer *w, const struct view_alert_list *list);

struct view_alert_one {
    struct view_alert alert;
    struct alert_notice_list notices;
};

/* "alert.unknown" (L2) */
bool view_alert(const struct view_reader *reader, int64_t id, struct view_alert_one *one,
                struct error *err) MUST_CHECK;
void view_alert_write(struct json_writer *w, const struct view_alert_one *one);

#endif
