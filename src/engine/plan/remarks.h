/* plan_remarks: how a plan came about, as the JSON of record_remarks.
 *
 *      {"budget":{...},"decision":{...},"degradation":["noCount"],"idle":"COVERED",
 *       "namespace":{...},"sliceCount":210,"totalEstimated":42000,"warnings":["..."],
 *       "window":{"from":"...","safetyLag":"PT10M","to":"..."}}
 *
 * `decision` is the audit of the window: every input, every candidate, and which one decided.
 */
#ifndef PATRA_ENGINE_PLAN_REMARKS_H
#define PATRA_ENGINE_PLAN_REMARKS_H

#include "engine/plan/draft.h"

bool plan_remarks(struct arena *arena, const struct plan_draft *draft,
                  const struct plan_result *result, struct str *json, struct error *err) MUST_CHECK;

/* Why a trigger made no plan: {"error":{...},"faults":[{"code":...,"hint":...,"message":...,
 * "severity":"ERROR"},...]}. Every fault is there. */
bool plan_refusal(struct arena *arena, const struct fault_list *faults, const struct error *why,
                  struct str *json, struct error *err) MUST_CHECK;

/* What the trigger requested: {"from":...,"operation":...,"set":{...},"to":...}. */
bool plan_params(struct arena *arena, const struct plan_request *request, struct str *json,
                 struct error *err) MUST_CHECK;

#endif
