/* The connection, its inbox, and waiting. */
#include "adapter/nats/link.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "adapter/nats/dial.h"
#include "adapter/nats/fault.h"
#include "base/instant.h"

void nats_link_init(struct nats_link *link, const struct bus_parts *parts)
{
    *link = (struct nats_link){ .parts = *parts };
}

struct nats_deadline nats_link_deadline(struct nats_link *link, int64_t timeout_us, int wake_fd)
{
    return (struct nats_deadline){ clock_monotonic_us(link->parts.clock) + timeout_us, wake_fd };
}

int64_t nats_link_left_ms(struct nats_link *link, const struct nats_deadline *deadline)
{
    const int64_t left_us = deadline->at_us - clock_monotonic_us(link->parts.clock);

    return left_us < 1000 ? 1 : left_us / 1000;
}

/* ---- waiting ---- */

static enum nats_news wait_for(struct nats_link *link, int fd, const struct nats_deadline *deadline)
{
    for (;;) {
        struct pollfd fds[2] = { { fd, POLLIN, 0 }, { deadline->wake_fd, POLLIN, 0 } };
        const int64_t left_us = deadline->at_us - clock_monotonic_us(link->parts.clock);

        (void)poll(fds, deadline->wake_fd >= 0 ? 2 : 1,
                   left_us <= 0 ? 0 : (int)(left_us / 1000) + 1);
        if (fds[0].revents != 0)
            return NATS_NEWS;
        if (deadline->wake_fd >= 0 && fds[1].revents != 0)
            return NATS_WOKEN;
        if (left_us <= 0)
            return NATS_LATE;
    }
}

enum nats_news nats_link_wait(struct nats_link *link, const struct nats_deadline *deadline)
{
    return wait_for(link, link->queue->fd, deadline);
}

bool nats_link_is_lost(struct nats_link *link)
{
    return link->nc == NULL || nats_queue_is_lost(link->queue);
}

/* ---- the inbox ---- */

static void on_message(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *queue)
{
    (void)nc;
    (void)sub;
    nats_queue_put(queue, msg);
}

static void on_complete(void *queue)
{
    nats_queue_release(queue);
}

static natsStatus open_inbox(struct nats_link *link)
{
    char subject[LINK_INBOX_MAX + 2];
    natsInbox *inbox = NULL;
    natsStatus status = natsInbox_Create(&inbox);

    if (status != NATS_OK)
        return status;
    (void)snprintf(link->prefix, sizeof(link->prefix), "%s.", inbox);
    natsInbox_Destroy(inbox);
    (void)snprintf(subject, sizeof(subject), "%s*", link->prefix);
    nats_queue_hold(link->queue);
    status = natsConnection_Subscribe(&link->inbox, link->nc, subject, on_message, link->queue);
    if (status == NATS_OK)
        status = natsSubscription_SetOnCompleteCB(link->inbox, on_complete, link->queue);
    if (status != NATS_OK) {
        nats_queue_release(link->queue); /* its callback will not come */
        return status;
    }
    (void)natsSubscription_SetPendingLimits(link->inbox, -1, -1);
    return NATS_OK;
}

/* ---- the connection ---- */

void nats_link_drop(struct nats_link *link)
{
    jsCtx_Destroy(link->js);
    natsSubscription_Destroy(link->inbox);
    natsConnection_Destroy(link->nc);
    nats_queue_release(link->queue);
    link->js = NULL;
    link->inbox = NULL;
    link->nc = NULL;
    link->queue = NULL;
}

void nats_link_close(struct nats_link *link)
{
    nats_dial_abandon(link->dial);
    link->dial = NULL;
    nats_link_drop(link);
}

static bool adopt(struct nats_link *link, struct error *err)
{
    natsStatus status;

    if (!nats_dial_end(link->dial, &link->nc, &link->queue, err)) {
        link->dial = NULL;
        link->turn++;
        return false;
    }
    link->dial = NULL;
    link->made++;
    status = open_inbox(link);
    if (status == NATS_OK)
        status = natsConnection_JetStream(&link->js, link->nc, NULL);
    if (status == NATS_OK)
        return true;
    nats_link_drop(link);
    return nats_fault(err, status, "begin a session with NATS");
}

bool nats_link_ready(struct nats_link *link, const struct nats_deadline *deadline,
                     struct error *err)
{
    if (link->nc != NULL && !nats_queue_is_lost(link->queue) &&
        natsConnection_Status(link->nc) == NATS_CONN_STATUS_CONNECTED)
        return true;
    nats_link_drop(link);
    if (link->dial == NULL && !nats_dial_begin(&link->parts, link->turn, &link->dial, err))
        return false;
    switch (wait_for(link, nats_dial_fd(link->dial), deadline)) {
    case NATS_NEWS:
        return adopt(link, err);
    case NATS_WOKEN:
        return error_set(err, ERROR_TRANSIENT, "bus.timeout", "the process was told to stop");
    case NATS_LATE:
        break;
    }
    return error_set(err, ERROR_TRANSIENT, "bus.timeout", "connect to NATS: no answer in time");
}
