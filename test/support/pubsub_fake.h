/* pubsub_fake: a gRPC server that keeps to Google's documented rules of Pub/Sub (pubsub_rules.h).
 *
 * One thread of this process serves Publish, CreateTopic, CreateSubscription, StreamingPull,
 * Acknowledge, ModifyAckDeadline and Seek on a free port of 127.0.0.1. Leases end by the fake's own
 * clock, which a test can move.
 */
#ifndef PATRA_TEST_SUPPORT_PUBSUB_FAKE_H
#define PATRA_TEST_SUPPORT_PUBSUB_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pubsub_fake;

struct pubsub_fake_options { /* they must outlive the fake */
    const char *certificate; /* PEM; NULL: no TLS */
    const char *key;         /* PEM */
};

struct pubsub_fake *pubsub_fake_start(void);
struct pubsub_fake *pubsub_fake_start_with(const struct pubsub_fake_options *options);
void pubsub_fake_stop(struct pubsub_fake *fake); /* accepts NULL */
int pubsub_fake_port(const struct pubsub_fake *fake);

/* Ends all connections and listens no more, until it goes on at the same port with all it has. */
void pubsub_fake_halt(struct pubsub_fake *fake);
void pubsub_fake_resume(struct pubsub_fake *fake);

/* Moves its clock, so that leases end. */
void pubsub_fake_advance(struct pubsub_fake *fake, int64_t by_us);

/* Only calls with this bearer token are served from now on; NULL: all. It must outlive the fake. */
void pubsub_fake_demand(struct pubsub_fake *fake, const char *token);

/* What its refusals say from now on: of tokens, and those of pubsub_fake_fail(). It must outlive
 * the fake. */
void pubsub_fake_say(struct pubsub_fake *fake, const char *text);

/* Streams bring all there is from now on, however little was asked for. */
void pubsub_fake_flood(struct pubsub_fake *fake);

/* The next `count` Publish requests end with this status of gRPC: before they are kept, or after.
 */
void pubsub_fake_fail(struct pubsub_fake *fake, int status, int count, bool is_kept);

/* Ends all streams with this status, as Google's servers do now and then. */
void pubsub_fake_cut(struct pubsub_fake *fake, int status);

/* With this chance, in a hundred, each message that is published brings an old one with it,
 * whichever: it is kept once more, as a message of its own. */
void pubsub_fake_echo(struct pubsub_fake *fake, int chance, uint64_t seed);
int64_t pubsub_fake_echoes(struct pubsub_fake *fake); /* so far */

size_t pubsub_fake_publishes(struct pubsub_fake *fake); /* requests that were received */

#endif
