/* patra offset show. */
#include <inttypes.h>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cmd/offset/offset.h"
#include "cmd/offset/offset_bus.h"
#include "port/store_offset.h"
#include "port/store_rate.h"
#include "port/store_subscription.h"
#include "view/outbox.h"

struct shown {
    struct session *session;
    const struct subscription *subscription;
    struct offset_state_list lanes;
    int64_t now_us;
};

static int64_t lag_us(const struct shown *shown, const struct offset_state *lane)
{
    return lane->has_next && shown->now_us > lane->next_us ? shown->now_us - lane->next_us : 0;
}

static struct str lag_text(const struct shown *shown, const struct offset_state *lane)
{
    struct buf text;

    if (!lane->has_next)
        return STR("-");
    buf_init(&text, &shown->session->arena, 64);
    text_span(&text, lag_us(shown, lane));
    return buf_str(&text);
}

static bool print_table(const struct shown *shown, bool all, FILE *out, struct error *err)
{
    static const char *const heads[] = { "LANE", "OFFSET", "END", "WAITING", "LAG", "READER" };
    struct columns columns;
    int64_t read = 0, waiting = 0;

    for (size_t i = 0; i < shown->lanes.count; i++) {
        read += shown->lanes.items[i].pos;
        waiting += shown->lanes.items[i].last_pos - shown->lanes.items[i].pos;
    }
    fprintf(out, "%.*s: %" PRId64 " events read, %" PRId64 " waiting\n",
            STR_ARG(shown->subscription->name), read, waiting);
    columns_init(&columns, &shown->session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < shown->lanes.count; i++) {
        const struct offset_state *lane = &shown->lanes.items[i];

        if (!all && lane->last_pos == 0)
            continue;
        columns_i64(&columns, lane->lane);
        columns_i64(&columns, lane->pos);
        columns_i64(&columns, lane->last_pos);
        columns_i64(&columns, lane->last_pos - lane->pos);
        columns_cell(&columns, lag_text(shown, lane));
        columns_cell(&columns, lane->owner.len > 0 ? lane->owner : STR("-"));
    }
    return columns_print(&columns, out, err);
}

static void write_json(struct json_writer *w, const struct shown *shown)
{
    json_write_object(w);
    json_write_member_str(w, STR("subscription"), shown->subscription->name);
    json_write_name(w, STR("lanes"));
    json_write_array(w);
    for (size_t i = 0; i < shown->lanes.count; i++) {
        const struct offset_state *lane = &shown->lanes.items[i];

        json_write_object(w);
        json_write_member_i64(w, STR("lane"), lane->lane);
        json_write_member_i64(w, STR("offset"), lane->pos);
        json_write_member_i64(w, STR("end"), lane->last_pos);
        json_write_member_i64(w, STR("lagMs"), lag_us(shown, lane) / US_PER_MS);
        json_write_member_str(w, STR("reader"), lane->owner);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

/* One after the other, in text or as the elements of an array. */
static bool show_one(struct shown *shown, struct json_writer *w, bool all, FILE *out,
                     struct error *err)
{
    const struct offset_key key = { SUBSCRIPTION_GROUP, shown->subscription->name };

    if (!store_offset_states(shown->session->store, &shown->session->arena, &key, &shown->lanes,
                             err))
        return false;
    if (w == NULL)
        return print_table(shown, all, out, err);
    write_json(w, shown);
    return true;
}

static bool show(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    const struct view_reader reader = session_reader(session);
    const char *name = invocation->operand_count > 0 ? invocation->operands[0] : NULL;
    const bool is_json = invocation_flag(invocation, "json");
    struct shown shown = { .session = session };
    struct subscription_list list;
    struct json_writer *w = NULL;
    struct output output;

    (void)code;
    if ((name != NULL && !view_subscription_check(&reader, str_of(name), err)) ||
        !store_clock(session->store, clock_now_us(&session->clock), &shown.now_us, err) ||
        !store_subscription_list(session->store, &session->arena, &list, err))
        return false;
    if (is_json) {
        w = output_begin(&output, &session->arena);
        json_write_array(w);
    }
    for (size_t i = 0; i < list.count; i++) {
        shown.subscription = &list.items[i];
        if (list.items[i].kind == SUBSCRIPTION_IMPORT ||
            (name != NULL && !str_eq(list.items[i].name, str_of(name))))
            continue;
        if (!show_one(&shown, w, name != NULL, invocation->out, err))
            return false;
    }
    if (!is_json)
        return true;
    json_write_end(w);
    return output_end(&output, invocation->out, err);
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return offset_is_of_bus(invocation) ? offset_bus_show(invocation)
                                        : session_run(invocation, show);
}

const struct command OFFSET_SHOW = {
    .name = "show",
    .summary = "show how far a subscription is in each lane",
    .operands = "[NAME]",
    .operands_max = 1,
    .description =
        "Shows each lane: how far the subscription is, how far the stream goes, for how long the\n"
        "next event waits, and who reads the lane; of all subscriptions without lanes that are\n"
        "empty. Where a projection's tables are in another database, its readers tell the store\n"
        "every few seconds.\n"
        "With --sink it shows projections there that are fed from a bus (patra consume --bus): "
        "per\n"
        "lane, how many events were applied, and which was the newest.",
    .options = { { "json", NULL, "Print JSON." },
                 { "sink", "DSN",
                   "Without a store: of projections fed from a bus, whose tables are there." },
                 SESSION_OPTION },
    .run = cmd_show,
};
