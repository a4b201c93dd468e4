/* What a batch kept of its response, read back from its digest. */
#include <string.h>

#include "data/json.h"
#include "engine/replay/replay.h"

struct reading {
    const struct json_doc *doc;
    struct arena *arena;
};

static struct str text_of(const struct reading *r, struct json_node node, const char *name)
{
    const struct json_node member = json_get(r->doc, node, str_of(name));
    struct str text = STR("");
    struct error ignored;

    if (json_type(r->doc, member) != JSON_STRING ||
        !json_string(r->doc, member, r->arena, &text, &ignored))
        return STR("");
    return text;
}

static int64_t number_of(const struct reading *r, struct json_node node, const char *name)
{
    int64_t number;

    return json_i64(r->doc, json_get(r->doc, node, str_of(name)), &number) ? number : 0;
}

/* A walk that gave up says so in its own words; what the source said is in the last attempt. */
static void take_attempt(const struct reading *r, struct json_node root, struct replay_side *then)
{
    struct json_node last = { 0 };
    bool found = false;

    if (then->code.len > 0 && !str_starts(then->code, STR("fetch.")))
        return;
    if (then->code.len == 0)
        return;
    for (struct json_iter it = json_each(r->doc, json_get(r->doc, root, STR("attempts")));
         json_next(&it);) {
        last = it.value;
        found = true;
    }
    if (!found)
        return;
    then->code = text_of(r, last, "code");
    then->status = number_of(r, last, "status");
}

bool replay_then(struct replay *replay, struct error *err)
{
    const struct batch *batch = replay->input.batch;
    struct replay_side *then = &replay->report.then;
    struct json_node root, error;
    struct json_doc doc;
    const struct reading r = { &doc, replay->input.arena };

    if (!json_parse(&doc, replay->input.arena, batch->response_digest, err))
        return error_wrap(err, "digest of a response");
    root = json_root(&doc);
    error = json_get(&doc, root, STR("error"));
    *then = (struct replay_side){ .status = number_of(&r, root, "status"),
                                  .level = text_of(&r, error, "level"),
                                  .code = text_of(&r, error, "code"),
                                  .bytes = number_of(&r, root, "bytes"),
                                  .items = number_of(&r, root, "items"),
                                  .has_total = json_exists(json_get(&doc, root, STR("total"))),
                                  .total = number_of(&r, root, "total"),
                                  .next = text_of(&r, root, "nextHint"),
                                  .sample = text_of(&r, root, "sample") };
    then->has_next = json_exists(json_get(&doc, root, STR("nextHint")));
    take_attempt(&r, root, then);
    return true;
}
