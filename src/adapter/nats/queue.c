/* A list under a mutex, and an eventfd that is written when the list has become long enough. */
#include "adapter/nats/queue.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct nats_queue *nats_queue_new(void)
{
    struct nats_queue *queue = calloc(1, sizeof(*queue));

    if (queue == NULL)
        return NULL;
    queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (queue->fd < 0 || pthread_mutex_init(&queue->mutex, NULL) != 0) {
        if (queue->fd >= 0)
            (void)close(queue->fd);
        free(queue);
        return NULL;
    }
    queue->refs = 1;
    queue->wanted = 1;
    return queue;
}

void nats_queue_hold(struct nats_queue *queue)
{
    (void)pthread_mutex_lock(&queue->mutex);
    queue->refs++;
    (void)pthread_mutex_unlock(&queue->mutex);
}

void nats_queue_release(struct nats_queue *queue)
{
    int refs;

    if (queue == NULL)
        return;
    (void)pthread_mutex_lock(&queue->mutex);
    refs = --queue->refs;
    (void)pthread_mutex_unlock(&queue->mutex);
    if (refs > 0)
        return;
    while (queue->first != NULL) {
        struct nats_item *item = queue->first;

        queue->first = item->next;
        nats_item_free(item);
    }
    (void)close(queue->fd);
    (void)pthread_mutex_destroy(&queue->mutex);
    free(queue);
}

static void ring(struct nats_queue *queue)
{
    (void)!write(queue->fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

void nats_queue_put(struct nats_queue *queue, natsMsg *msg)
{
    struct nats_item *item = calloc(1, sizeof(*item));
    bool is_news;

    if (item == NULL) {
        natsMsg_Destroy(msg);
        nats_queue_mark(queue, true, false);
        return;
    }
    item->msg = msg;
    (void)pthread_mutex_lock(&queue->mutex);
    if (queue->first == NULL)
        queue->first = item;
    else
        queue->last->next = item;
    queue->last = item;
    is_news = ++queue->count == queue->wanted;
    (void)pthread_mutex_unlock(&queue->mutex);
    if (is_news)
        ring(queue);
}

void nats_queue_want(struct nats_queue *queue, size_t count)
{
    bool is_news;

    (void)pthread_mutex_lock(&queue->mutex);
    queue->wanted = count;
    is_news = queue->count >= count;
    (void)pthread_mutex_unlock(&queue->mutex);
    if (is_news)
        ring(queue);
}

void nats_queue_mark(struct nats_queue *queue, bool is_lost, bool is_denied)
{
    (void)pthread_mutex_lock(&queue->mutex);
    queue->is_lost |= is_lost;
    queue->is_denied |= is_denied;
    (void)pthread_mutex_unlock(&queue->mutex);
    ring(queue);
}

struct nats_item *nats_queue_take(struct nats_queue *queue)
{
    struct nats_item *items;
    uint64_t count;

    /* The bell first: what comes after this rings it again. */
    (void)!read(queue->fd, &count, sizeof(count));
    (void)pthread_mutex_lock(&queue->mutex);
    items = queue->first;
    queue->first = NULL;
    queue->last = NULL;
    queue->count = 0;
    queue->wanted = 1;
    (void)pthread_mutex_unlock(&queue->mutex);
    return items;
}

void nats_item_free(struct nats_item *item)
{
    natsMsg_Destroy(item->msg);
    free(item);
}

bool nats_queue_is_lost(struct nats_queue *queue)
{
    bool is_lost;

    (void)pthread_mutex_lock(&queue->mutex);
    is_lost = queue->is_lost;
    (void)pthread_mutex_unlock(&queue->mutex);
    return is_lost;
}

bool nats_queue_is_denied(struct nats_queue *queue)
{
    bool is_denied;

    (void)pthread_mutex_lock(&queue->mutex);
    is_denied = queue->is_denied;
    (void)pthread_mutex_unlock(&queue->mutex);
    return is_denied;
}
