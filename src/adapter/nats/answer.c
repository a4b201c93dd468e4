/* Answers of a NATS server. */
#include "adapter/nats/answer.h"

#include "base/error.h"
#include "core/limits.h"
#include "data/json.h"

enum { REASON_MAX = 200, MARK_TOKENS_MAX = 12 };

/* Printable ASCII, so that a log line stays one. */
static struct str printable(struct arena *arena, struct str text)
{
    struct str copy = arena_copy(arena, str_slice(text, 0, REASON_MAX));
    char *bytes = (char *)copy.data;

    for (size_t i = 0; bytes != NULL && i < copy.len; i++) {
        if (bytes[i] < ' ' || bytes[i] > '~')
            bytes[i] = '?';
    }
    return copy.data != NULL ? copy : STR("");
}

static int64_t whole_number(const struct json_doc *doc, struct json_node node)
{
    int64_t number;

    return json_type(doc, node) == JSON_NUMBER && str_to_i64(json_raw(doc, node), &number) ? number
                                                                                           : 0;
}

/* An object, and the error that it may hold. */
static bool read_answer(struct arena *arena, struct str text, struct json_doc *doc,
                        struct nats_ack *ack)
{
    struct json_node error;
    struct error err;
    struct str reason;

    *ack = (struct nats_ack){ 0 };
    if (!json_parse_depth(doc, arena, text, 8, &err) ||
        json_type(doc, json_root(doc)) != JSON_OBJECT)
        return false;
    error = json_get(doc, json_root(doc), STR("error"));
    if (json_type(doc, error) != JSON_OBJECT)
        return true;
    ack->is_error = true;
    ack->code = whole_number(doc, json_get(doc, error, STR("code")));
    ack->err_code = whole_number(doc, json_get(doc, error, STR("err_code")));
    error = json_get(doc, error, STR("description"));
    if (json_type(doc, error) == JSON_STRING && json_string(doc, error, arena, &reason, &err))
        ack->reason = printable(arena, reason);
    if (ack->reason.len == 0)
        ack->reason = STR("the server gave no reason");
    return true;
}

bool nats_ack_read(struct arena *arena, struct str text, struct nats_ack *ack)
{
    struct json_node root;
    struct json_doc doc;

    if (!read_answer(arena, text, &doc, ack))
        return false;
    if (ack->is_error)
        return true;
    root = json_root(&doc);
    ack->sequence = whole_number(&doc, json_get(&doc, root, STR("seq")));
    ack->is_duplicate = str_eq(json_raw(&doc, json_get(&doc, root, STR("duplicate"))), STR("true"));
    return ack->sequence > 0;
}

bool nats_reply_read(struct arena *arena, struct str text, struct nats_ack *reply)
{
    struct json_doc doc;

    return read_answer(arena, text, &doc, reply);
}

bool nats_delivery_mark_read(struct str reply, struct nats_delivery_mark *mark)
{
    struct str tokens[MARK_TOKENS_MAX];
    int64_t time_ns;
    size_t count = 0, at;

    *mark = (struct nats_delivery_mark){ 0 };
    while (reply.len > 0 && count < MARK_TOKENS_MAX)
        tokens[count++] = str_cut(&reply, '.');
    if (count < 9 || !str_eq(tokens[0], STR("$JS")) || !str_eq(tokens[1], STR("ACK")))
        return false;
    at = count == 9 ? 4 : 6; /* with domain and account there are eleven or twelve */
    if (count == 10 || !str_to_i64(tokens[at], &mark->attempt) ||
        !str_to_i64(tokens[at + 1], &mark->sequence) || !str_to_i64(tokens[at + 3], &time_ns))
        return false;
    mark->published_us = time_ns / 1000;
    return mark->attempt > 0 && mark->sequence > 0 && time_ns >= 0;
}

bool nats_subject_covers(struct str pattern, struct str wanted)
{
    while (pattern.len > 0 && wanted.len > 0) {
        const struct str have = str_cut(&pattern, '.');
        const struct str want = str_cut(&wanted, '.');

        if (str_eq(have, STR(">")))
            return true;
        if (!str_eq(have, want) && !str_eq(have, STR("*")))
            return false;
    }
    return pattern.len == 0 && wanted.len == 0;
}

int64_t nats_subject_lane(struct str template, struct str subject)
{
    int64_t lane;

    while (template.len > 0 && subject.len > 0) {
        const struct str name = str_cut(&template, '.');
        const struct str token = str_cut(&subject, '.');

        if (str_eq(name, STR("${lane}")))
            return str_to_i64(token, &lane) && lane >= 0 && lane < OUTBOX_LANES ? lane : -1;
    }
    return -1;
}
