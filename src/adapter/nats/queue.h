/* queue: what the threads of libnats bring, until the thread that owns the bus takes it.
 *
 * A callback only puts a message into the queue, or a mark that the connection ended. The queue is
 * shared with the library, whose last callbacks may come after a connection was destroyed, and is
 * freed with its last reference.
 */
#ifndef PATRA_ADAPTER_NATS_QUEUE_H
#define PATRA_ADAPTER_NATS_QUEUE_H

#include <nats/nats.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct nats_item {
    struct nats_item *next;
    natsMsg *msg;
};

struct nats_queue {
    pthread_mutex_t mutex;
    int refs;
    int fd; /* an eventfd: readable when there is news */
    struct nats_item *first, *last;
    size_t count;
    size_t wanted;  /* so many messages are news */
    bool is_lost;   /* the connection ended */
    bool is_denied; /* the server has forbidden something */
};

struct nats_queue *nats_queue_new(void); /* NULL: no memory, or no descriptor */
void nats_queue_hold(struct nats_queue *queue);
void nats_queue_release(struct nats_queue *queue); /* accepts NULL */

/* Takes the message over, also when memory is short: then the connection counts as lost. */
void nats_queue_put(struct nats_queue *queue, natsMsg *msg);
void nats_queue_mark(struct nats_queue *queue, bool is_lost, bool is_denied);

/* Everything that is there, in order; the caller frees it with nats_item_free(). From then on one
 * message is news. */
struct nats_item *nats_queue_take(struct nats_queue *queue);

/* Less than so many messages are no news, until the next take: being woken for each answer costs
 * more than reading it. */
void nats_queue_want(struct nats_queue *queue, size_t count);
void nats_item_free(struct nats_item *item); /* with its message */

bool nats_queue_is_lost(struct nats_queue *queue);
bool nats_queue_is_denied(struct nats_queue *queue);

#endif
