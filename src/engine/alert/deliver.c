/* Notices, one after the other. */
#include "engine/alert/deliver.h"

#include "engine/alert/message.h"
#include "spec/alert_file.h"

static int64_t wait_after(int64_t attempts)
{
    int64_t wait_us = ALERT_RETRY_FIRST_US;

    for (int64_t i = 1; i < attempts && wait_us < ALERT_RETRY_MAX_US; i++)
        wait_us *= 2;
    return wait_us < ALERT_RETRY_MAX_US ? wait_us : ALERT_RETRY_MAX_US;
}

/* *found is false where the receiver was removed meanwhile. */
static bool find_receiver(const struct alert_delivery *d, struct str name,
                          struct alert_receiver *receiver, bool *found, struct error *err)
{
    struct alert_receiver_list list;

    *found = false;
    if (!store_alert_receivers(d->store, d->arena, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!str_eq(list.items[i].name, name))
            continue;
        *found = true;
        return alert_file_load(d->arena, list.items[i].spec, receiver, err);
    }
    return true;
}

static void tell(const struct alert_delivery *d, const struct alert *alert,
                 const struct alert_notice *notice, const struct error *failure)
{
    if (failure == NULL)
        log_event(d->log, LOG_INFO, "alert sent", LOG_I64("alert", alert->id),
                  LOG_STR("rule", alert->rule), LOG_STR("subject", alert->subject),
                  LOG_STR("kind", code_of(&ALERT_NOTICE_CODES, (int)notice->kind)),
                  LOG_STR("receiver", notice->receiver));
    else
        log_event(d->log, LOG_WARN, "alert not sent", LOG_I64("alert", alert->id),
                  LOG_STR("rule", alert->rule), LOG_STR("receiver", notice->receiver),
                  LOG_I64("attempt", notice->attempts + 1), LOG_STR("code", str_of(failure->code)),
                  LOG_STR("error", str_of(failure->text)));
}

static bool note_failure(const struct alert_delivery *d, const struct alert_notice *notice,
                         const struct error *failure, struct error *err)
{
    const bool gives_up = d->now_us - notice->created_us >= ALERT_GIVE_UP_US;

    return store_alert_failed(
        d->store,
        &(struct alert_failure){ .id = notice->id,
                                 .error = str_of(failure->text),
                                 .next_try_us = d->now_us + wait_after(notice->attempts + 1),
                                 .gave_up_us = gives_up ? d->now_us : 0 },
        err);
}

static bool deliver_one(const struct alert_delivery *d, const struct alert_notice *notice,
                        struct alert_delivered *delivered, struct error *err)
{
    struct alert_receiver receiver = { 0 };
    struct alert_message message;
    struct error failure = { 0 };
    struct alert alert;
    bool mine, found, is_there, ok;

    if (!store_alert_claim(d->store, notice, d->now_us + ALERT_CLAIM_US, &mine, err))
        return false;
    if (!mine)
        return true;
    if (!store_alert_find(d->store, d->arena, notice->alert_id, &alert, &found, err))
        return false;
    ok = found && find_receiver(d, notice->receiver, &receiver, &is_there, &failure) && is_there &&
         alert_message_make(d->arena, &receiver, &alert, notice->kind, &message, &failure) &&
         alert_send(d->sender, &receiver, &message, &failure);
    if (!found || (!ok && failure.code == NULL))
        return true; /* it was removed meanwhile, and its notices with it */
    tell(d, &alert, notice, ok ? NULL : &failure);
    delivered->sent += ok;
    delivered->failed += !ok;
    return ok ? store_alert_sent(d->store, notice->id, d->now_us, err)
              : note_failure(d, notice, &failure, err);
}

bool alert_deliver(const struct alert_delivery *d, struct alert_delivered *delivered,
                   struct error *err)
{
    struct alert_notice_list due;

    *delivered = (struct alert_delivered){ 0 };
    if (!store_alert_due(d->store, d->arena, d->now_us, ALERT_DUE_MAX, &due, err))
        return false;
    for (size_t i = 0; i < due.count; i++) {
        if (!clock_sleep_us(d->clock, 0, d->stop_fd))
            return true;
        if (!deliver_one(d, &due.items[i], delivered, err))
            return error_wrap(err, "deliver alerts");
    }
    return true;
}
