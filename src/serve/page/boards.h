/* boards: the pages, each the function of its route (routes_pages.c). */
#ifndef PATRA_SERVE_PAGE_BOARDS_H
#define PATRA_SERVE_PAGE_BOARDS_H

#include "base/attr.h"
#include "base/error.h"

struct call;

bool page_now(struct call *call, struct error *err) MUST_CHECK;

bool page_runs(struct call *call, struct error *err) MUST_CHECK;
bool page_plan(struct call *call, struct error *err) MUST_CHECK;
bool page_task(struct call *call, struct error *err) MUST_CHECK;
bool page_run(struct call *call, struct error *err) MUST_CHECK;
bool page_batch(struct call *call, struct error *err) MUST_CHECK;

bool page_cursors(struct call *call, struct error *err) MUST_CHECK;
bool page_cursor(struct call *call, struct error *err) MUST_CHECK;
bool page_preview(struct call *call, struct error *err) MUST_CHECK;

bool page_gate(struct call *call, struct error *err) MUST_CHECK;

bool page_events(struct call *call, struct error *err) MUST_CHECK;
bool page_subscription(struct call *call, struct error *err) MUST_CHECK;

bool page_errors(struct call *call, struct error *err) MUST_CHECK;
bool page_quarantined(struct call *call, struct error *err) MUST_CHECK;

bool page_records(struct call *call, struct error *err) MUST_CHECK;
bool page_source_records(struct call *call, struct error *err) MUST_CHECK;
bool page_record(struct call *call, struct error *err) MUST_CHECK;

bool page_why(struct call *call, struct error *err) MUST_CHECK;

bool page_login(struct call *call, struct error *err) MUST_CHECK;
bool page_sign_in(struct call *call, struct error *err) MUST_CHECK;
bool page_sign_out(struct call *call, struct error *err) MUST_CHECK;

bool asset_style(struct call *call, struct error *err) MUST_CHECK;
bool asset_script(struct call *call, struct error *err) MUST_CHECK;

#endif
