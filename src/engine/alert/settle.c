/* What is found, against what is open. */
#include "engine/alert/settle.h"

#include "base/mask.h"
#include "engine/alert/silence.h"
#include "spec/alert_file.h"

bool alert_is_silenced(const struct alert *alert, const struct alert_silence_list *silences)
{
    for (size_t i = 0; i < silences->count; i++) {
        const struct alert_silence *s = &silences->items[i];

        if ((s->rule.len == 0 || str_eq(s->rule, alert->rule)) &&
            (s->source.len == 0 || str_eq(s->source, alert->source)) &&
            (s->subject.len == 0 || str_eq(s->subject, alert->subject)))
            return true;
    }
    return false;
}

/* ---- alerts ---- */

static bool is_of(const struct alert_finding *finding, struct str rule, struct str subject)
{
    return str_eq(str_of(ALERT_RULES[finding->rule].name), rule) &&
           str_eq(finding->subject, subject);
}

static const struct alert *open_of(const struct alert_list *open,
                                   const struct alert_finding *finding)
{
    for (size_t i = 0; i < open->count; i++) {
        if (is_of(finding, open->items[i].rule, open->items[i].subject))
            return &open->items[i];
    }
    return NULL;
}

/* The first finding of a subject counts. */
static bool is_repeated(const struct alert_finding_list *findings, size_t at)
{
    const struct alert_finding *finding = &findings->items[at];

    for (size_t i = 0; i < at; i++) {
        if (findings->items[i].rule == finding->rule &&
            str_eq(findings->items[i].subject, finding->subject))
            return true;
    }
    return false;
}

static bool settle_found(struct store *store, struct arena *arena, const struct alert_round *round,
                         const struct alert_finding *finding, const struct alert *open,
                         struct alert_settled *settled, struct error *err)
{
    const struct alert_rule_row *row = &ALERT_RULES[finding->rule];
    const int64_t since_us = open != NULL ? open->since_us : round->now_us;
    const bool fires = round->now_us - since_us >= round->limits->of[finding->rule].hold_us;
    const struct str text = mask_personal_copy(arena, finding->text);

    if (text.data == NULL)
        return arena_error(arena, err);
    settled->fired += fires && (open == NULL || open->fired_us == 0);
    if (open != NULL)
        return store_alert_see(
            store,
            &(struct alert_seen){
                .id = open->id, .text = text, .now_us = round->now_us, .fires = fires },
            err);
    return store_alert_begin(store,
                             &(struct alert){ .rule = str_of(row->name),
                                              .subject = finding->subject,
                                              .source = finding->source,
                                              .severity = row->severity,
                                              .text = text,
                                              .since_us = round->now_us,
                                              .fired_us = fires ? round->now_us : 0 },
                             err);
}

static bool is_found(const struct alert_round *round, const struct alert *alert)
{
    for (size_t i = 0; i < round->findings->count; i++) {
        const struct alert_finding *finding = &round->findings->items[i];

        if (!round->limits->of[finding->rule].is_off && is_of(finding, alert->rule, alert->subject))
            return true;
    }
    return false;
}

static bool settle_gone(struct store *store, const struct alert_round *round,
                        const struct alert *alert, struct alert_settled *settled, struct error *err)
{
    if (alert->fired_us == 0)
        return store_alert_drop(store, alert->id, err);
    if (round->now_us - alert->seen_us < round->clear_us)
        return true;
    settled->resolved++;
    return store_alert_end(store, alert->id, round->now_us, err) &&
           store_alert_notice_resolved(store, alert->id, round->now_us, err);
}

static bool settle_alerts(struct store *store, struct arena *arena, const struct alert_round *round,
                          struct alert_settled *settled, struct error *err)
{
    const struct alert_query all = { .with_pending = true, .limit = ALERT_OPEN_MAX };
    struct alert_list open;

    if (!store_alert_list(store, arena, &all, &open, err))
        return false;
    for (size_t i = 0; i < round->findings->count; i++) {
        const struct alert_finding *finding = &round->findings->items[i];

        if (round->limits->of[finding->rule].is_off || is_repeated(round->findings, i))
            continue;
        if (!settle_found(store, arena, round, finding, open_of(&open, finding), settled, err))
            return false;
    }
    for (size_t i = 0; i < open.count; i++) {
        if (!is_found(round, &open.items[i]) &&
            !settle_gone(store, round, &open.items[i], settled, err))
            return false;
    }
    return true;
}

/* ---- notices ---- */

static bool add_notices(struct store *store, const struct alert *alert,
                        const struct alert_receiver *receiver, int64_t now_us, int64_t *count,
                        struct error *err)
{
    enum alert_rule rule;
    bool added;

    if (!alert_rule_find(alert->rule, &rule) ||
        !alert_receiver_takes(receiver, rule, alert->source))
        return true;
    if (!store_alert_notice_add(store,
                                &(struct alert_notice){ .alert_id = alert->id,
                                                        .receiver = receiver->name,
                                                        .kind = ALERT_NOTICE_FIRED,
                                                        .created_us = now_us },
                                &added, err))
        return false;
    *count += added;
    return true;
}

static bool settle_notices(struct store *store, struct arena *arena, int64_t now_us,
                           struct alert_settled *settled, struct error *err)
{
    const struct alert_query fired = { .limit = ALERT_OPEN_MAX };
    struct alert_receiver_list receivers;
    struct alert_silence_list silences;
    struct alert_list open;

    if (!store_alert_receivers(store, arena, &receivers, err) ||
        !store_alert_silences(store, arena, now_us, &silences, err) ||
        !store_alert_list(store, arena, &fired, &open, err))
        return false;
    for (size_t r = 0; r < receivers.count; r++) {
        struct alert_receiver receiver;

        if (!alert_file_load(arena, receivers.items[r].spec, &receiver, err))
            return error_wrap(err, "receiver %.*s", STR_ARG(receivers.items[r].name));
        for (size_t i = 0; i < open.count; i++) {
            if (!alert_is_silenced(&open.items[i], &silences) &&
                !add_notices(store, &open.items[i], &receiver, now_us, &settled->notices, err))
                return false;
        }
    }
    return true;
}

bool alert_settle(struct store *store, struct arena *arena, const struct alert_round *round,
                  struct alert_settled *settled, struct error *err)
{
    *settled = (struct alert_settled){ 0 };
    if (!store_begin(store, err))
        return false;
    if (store_lock(store, STR("alerts"), err) && settle_alerts(store, arena, round, settled, err) &&
        settle_notices(store, arena, round->now_us, settled, err) && store_commit(store, err))
        return true;
    store_rollback(store);
    return error_wrap(err, "settle alerts");
}
