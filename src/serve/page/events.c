/* Events: the sequencer, who reads the stream, and what could not be delivered. */
#include <inttypes.h>

#include "act/subscription.h"
#include "serve/page/boards.h"
#include "serve/page/parts.h"
#include "view/outbox.h"

enum { LIST_MAX = 100 };

/* ---- all ---- */

static void write_sequencer(struct html *h, const struct view_outbox *outbox)
{
    page_section(h, "sequencer", STR("Sequencer"));
    facts_open(h);
    fact_text(h, "Runs at",
              outbox->is_leased ? outbox->stream.lease_owner : STR("nobody publishes"));
    fact_number(h, "Waiting", outbox->stream.waiting);
    fact(h, "Oldest waits");
    show_span(h, outbox->lag_us);
    fact_end(h);
    fact_number(h, "Last event", outbox->stream.last_id);
    fact_number(h, "Placed up to", outbox->stream.cursor_id);
    fact_number(h, "Ids without an event", outbox->gap_ids);
    facts_close(h);
    html_end(h);
}

static void write_subscription(struct table *t, const struct view_subscription *s)
{
    table_row(t);
    table_link(t, PAGE_PATH(t->h->out->arena, "/events", s->subscription.name),
               s->subscription.name);
    table_text(t, page_lower(t->h->out->arena,
                             code_of(&SUBSCRIPTION_KIND_CODES, (int)s->subscription.kind)));
    table_word(t, code_of(&SUBSCRIPTION_STATE_CODES, (int)s->subscription.state));
    table_number(t, s->waiting);
    table_span(t, s->lag_us);
    table_number(t, s->parked);
    table_number(t, s->dead);
    table_number(t, (int64_t)s->readers.count);
    table_error(t, s->trouble != NULL ? s->trouble->error : s->subscription.state_reason);
}

static void write_subscriptions(struct html *h, const struct view_outbox *outbox)
{
    struct table t;

    page_section(h, "subscriptions", STR("Subscriptions"));
    if (outbox->subscriptions.count == 0) {
        show_none(h, "Nobody subscribes: add a bus (patra bus apply) or a projection.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "Who reads the stream", "Subscription", "Kind", "State", "#Waiting",
               "#Behind", "#Parked", "#Dead", "#Readers", "Error");
    for (size_t i = 0; i < outbox->subscriptions.count; i++)
        write_subscription(&t, &outbox->subscriptions.items[i]);
    table_close(&t);
    html_end(h);
}

static void write_parked_row(struct table *t, struct str subscription, const struct parked *parked,
                             int64_t now_us)
{
    struct arena *arena = t->h->out->arena;

    table_row(t);
    table_text(t, parked->aggregate_id);
    table_link(t, PAGE_PATH(arena, "/events", subscription), subscription);
    table_text(t, parked->aggregate_type);
    table_cell(t);
    html_textf(t->h, "%" PRId64 " to %" PRId64, parked->head_version, parked->seen_version);
    table_cell_end(t);
    table_number(t, parked->attempts_ended);
    table_time(t, parked->parked_us, now_us);
    table_time(t, parked->next_retry_us, now_us);
    table_error(t, parked->last_error);
}

static void open_parked(struct table *t, struct html *h)
{
    static const char *const heads[] = { "Key",    "Subscription", "Type",     "Versions",
                                         "#Tries", "Parked",       "Next try", "Error" };

    table_open(t, h, "Keys that wait", heads, ARRAY_LEN(heads));
}

static void write_all_parked(struct html *h, const struct view_parked_list *list, int64_t now_us)
{
    struct table t;

    page_section(h, "parked", STR("Parked keys"));
    if (list->count == 0) {
        show_none(h, "No key is parked.");
        html_end(h);
        return;
    }
    open_parked(&t, h);
    for (size_t i = 0; i < list->count; i++) {
        for (size_t k = 0; k < list->items[i].keys.count; k++)
            write_parked_row(&t, list->items[i].subscription, &list->items[i].keys.items[k],
                             now_us);
    }
    table_close(&t);
    html_end(h);
}

bool page_events(struct call *call, struct error *err)
{
    struct view_parked_list parked;
    struct view_outbox outbox;
    struct html h;

    if (!view_outbox(&call->reader, &outbox, err) ||
        !view_parked(&call->reader, LIST_MAX, &parked, err))
        return false;
    page_open(&h, call, &(struct page_head){ .board = "events", .title = STR("Events") });
    write_sequencer(&h, &outbox);
    write_subscriptions(&h, &outbox);
    write_all_parked(&h, &parked, outbox.now_us);
    return page_close(&h, call, err);
}

/* ---- one subscription ---- */

struct waiting {
    struct subscription subscription;
    struct parked_list parked;
    struct letter_list letters;
    int64_t now_us;
};

/* What waits is in the database of its tables, which may be another. */
static bool gather(struct call *call, struct str name, struct waiting *w, struct error *err)
{
    const struct offset_key key = { SUBSCRIPTION_GROUP, name };
    struct subscription_home home = { 0 };
    const bool ok =
        subscription_home_open(&call->reader, api_settings(call->api)->sinks, name, &home, err) &&
        store_parked_list(home.store, call->reader.arena,
                          &(struct parked_query){ .key = key, .limit = LIST_MAX }, &w->parked,
                          err) &&
        store_parked_letters(home.store, call->reader.arena,
                             &(struct letter_query){ .key = key, .limit = LIST_MAX }, &w->letters,
                             err);

    if (ok) {
        w->subscription = home.subscription;
        w->now_us = home.now_us;
    }
    subscription_home_close(&home);
    return ok;
}

static void write_letters(struct html *h, const struct waiting *w)
{
    struct table t;

    page_section(h, "dead", STR("Dead letters"));
    if (w->letters.count == 0) {
        show_none(h, "No event was given up.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "Events that were given up", "Key", "Type", "#Version", "#Tries", "Given up",
               "Reason");
    for (size_t i = 0; i < w->letters.count; i++) {
        const struct dead_letter *dead = &w->letters.items[i].dead;

        table_row(&t);
        table_text(&t, dead->aggregate_id);
        table_text(&t, dead->aggregate_type);
        table_number(&t, dead->version);
        table_number(&t, dead->attempts);
        table_time(&t, dead->dead_us, w->now_us);
        table_error(&t, dead->reason);
    }
    table_close(&t);
    html_end(h);
}

static void write_parked(struct html *h, const struct waiting *w)
{
    struct table t;

    page_section(h, "parked", STR("Parked keys"));
    if (w->parked.count == 0) {
        show_none(h, "No key is parked.");
        html_end(h);
        return;
    }
    open_parked(&t, h);
    for (size_t i = 0; i < w->parked.count; i++)
        write_parked_row(&t, w->subscription.name, &w->parked.items[i], w->now_us);
    table_close(&t);
    html_end(h);
}

static const struct act_field KEY_FIELDS[] = {
    { .name = "key", .label = "Key", .option = "" },
    { .name = "all", .label = "every key", .option = "--all", .kind = INPUT_CHECK },
};
static const struct act_field SKIP_FIELDS[] = {
    { .name = "key", .label = "Key", .option = "", .is_required = true },
    { .name = "reason", .label = "Reason", .option = "--reason" },
};
static const struct act_field REASON_FIELD[] = {
    { .name = "reason", .label = "Reason", .option = "--reason" },
};

static void write_act(struct html *h, struct call *call, struct str name, const char *verb,
                      const struct page_act *like)
{
    struct arena *arena = call->reader.arena;
    struct page_act act = *like;

    act.of = name;
    act.path = PAGE_PATH(arena, "/form/subscriptions", name, str_of(verb));
    act.command = arena_printf(arena, "patra outbox %s %.*s", verb, STR_ARG(name));
    page_act(h, call, &act);
}

static void write_acts(struct html *h, struct call *call, const struct subscription *s)
{
    html_class(h, "div", "acts");
    if (s->state == SUBSCRIPTION_ACTIVE)
        write_act(h, call, s->name, "pause",
                  &(struct page_act){ .label = "Pause",
                                      .fields = REASON_FIELD,
                                      .field_count = ARRAY_LEN(REASON_FIELD) });
    else
        write_act(h, call, s->name, "resume", &(struct page_act){ .label = "Resume" });
    write_act(h, call, s->name, "retry",
              &(struct page_act){ .label = "Try parked keys of",
                                  .fields = KEY_FIELDS,
                                  .field_count = ARRAY_LEN(KEY_FIELDS) });
    write_act(h, call, s->name, "skip",
              &(struct page_act){ .label = "Give up a key of",
                                  .fields = SKIP_FIELDS,
                                  .field_count = ARRAY_LEN(SKIP_FIELDS),
                                  .is_grave = true });
    write_act(h, call, s->name, "redrive",
              &(struct page_act){ .label = "Deliver dead letters of",
                                  .fields = KEY_FIELDS,
                                  .field_count = ARRAY_LEN(KEY_FIELDS) });
    html_end(h);
}

bool page_subscription(struct call *call, struct error *err)
{
    const struct str name = call_text(call, "name");
    struct waiting w = { 0 };
    struct html h;

    if (!gather(call, name, &w, err))
        return false;
    page_open(&h, call, &(struct page_head){ .board = "events", .title = name });
    facts_open(&h);
    fact_text(&h, "Kind",
              page_lower(call->reader.arena,
                         code_of(&SUBSCRIPTION_KIND_CODES, (int)w.subscription.kind)));
    fact(&h, "State");
    show_word(&h, code_of(&SUBSCRIPTION_STATE_CODES, (int)w.subscription.state));
    fact_end(&h);
    fact_text(&h, "Reason", w.subscription.state_reason);
    fact_text(&h, "Policy",
              page_lower(call->reader.arena,
                         code_of(&SUBSCRIPTION_POLICY_CODES, (int)w.subscription.policy)));
    facts_close(&h);
    write_acts(&h, call, &w.subscription);
    write_parked(&h, &w);
    write_letters(&h, &w);
    return page_close(&h, call, err);
}
