/* What a trigger would plan. */
#include "act/trigger.h"

bool act_preview(const struct view_reader *reader, const struct act_preview_request *request,
                 struct act_preview *made, struct error *err)
{
    *made = (struct act_preview){ .request = { .source = request->source,
                                               .operation = request->operation,
                                               .now_us = reader->now_us,
                                               .trigger = TRIGGER_MANUAL,
                                               .from = request->from,
                                               .to = request->to,
                                               .specs = request->specs,
                                               .random = request->random,
                                               .secrets = reader->secrets } };
    if (request->from.is_set && request->to.is_set && request->from.at_us > request->to.at_us)
        return error_set(err, ERROR_REQUEST, "request.parameter", "from: is after to");
    trigger_preview_init(&made->preview, reader->arena, request->slices_max);
    if (!plan_preview(reader->store, reader->arena, &made->request, &made->preview.viewer,
                      &made->result, err))
        return false;
    return !made->preview.failed || arena_error(reader->arena, err);
}
