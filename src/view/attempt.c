/* Reads the attempts of a batch from its digest. */
#include "view/attempt.h"

#include "base/list.h"
#include "data/json.h"

/* Zero where there is none. */
static int64_t number_of(const struct json_doc *doc, struct json_node node, const char *name)
{
    int64_t number;

    return json_i64(doc, json_get(doc, node, str_of(name)), &number) ? number : 0;
}

struct reading {
    const struct json_doc *doc;
    struct arena *arena;
    struct error *err;
};

/* Empty where there is none. */
static bool text_of(const struct reading *reading, struct json_node node, const char *name,
                    struct str *text)
{
    const struct json_node member = json_get(reading->doc, node, str_of(name));

    *text = STR("");
    return json_type(reading->doc, member) != JSON_STRING ||
           json_string(reading->doc, member, reading->arena, text, reading->err);
}

static bool read_one(const struct reading *reading, struct json_node node,
                     struct view_attempt *attempt)
{
    attempt->status = number_of(reading->doc, node, "status");
    attempt->bytes = number_of(reading->doc, node, "bytes");
    attempt->took_ms = number_of(reading->doc, node, "tookMs");
    attempt->retry_after_ms = json_exists(json_get(reading->doc, node, STR("retryAfterMs")))
                                  ? number_of(reading->doc, node, "retryAfterMs")
                                  : -1;
    attempt->wait_ms = number_of(reading->doc, node, "waitMs");
    attempt->ids = number_of(reading->doc, node, "ids");
    return text_of(reading, node, "at", &attempt->at) &&
           text_of(reading, node, "code", &attempt->code) &&
           text_of(reading, node, "then", &attempt->then) &&
           text_of(reading, node, "text", &attempt->text);
}

bool view_attempt_list(struct arena *arena, struct str response_digest,
                       struct view_attempt_list *list, struct error *err)
{
    struct json_doc doc;
    const struct reading reading = { &doc, arena, err };

    *list = (struct view_attempt_list){ 0 };
    if (!json_parse(&doc, arena, response_digest, err))
        return error_wrap(err, "digest of a response");
    list->left_out = number_of(&doc, json_root(&doc), "attemptsLeftOut");
    for (struct json_iter it = json_each(&doc, json_get(&doc, json_root(&doc), STR("attempts")));
         json_next(&it);) {
        struct view_attempt *attempt = LIST_ADD(arena, list);

        if (attempt == NULL)
            return arena_error(arena, err);
        if (!read_one(&reading, it.value, attempt))
            return error_wrap(err, "attempts of a batch");
    }
    return true;
}
