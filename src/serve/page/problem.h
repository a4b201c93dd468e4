/* problem: pages for what was refused, and for what a form did. */
#ifndef PATRA_SERVE_PAGE_PROBLEM_H
#define PATRA_SERVE_PAGE_PROBLEM_H

#include "serve/call.h"

/* Instead of problem+json, for people. Where a token is missing, with a place to show one. */
void page_problem(struct call *call, const struct error *err);

/* The body of the call is what a change has answered, JSON: as a page. */
bool page_outcome(struct call *call, struct error *err) MUST_CHECK;

#endif
