/* kafka_refuser: a broker of Kafka that refuses every password, with words of the test's.
 *
 * It speaks as much of the protocol as a client needs to show its credential: the versions of the
 * calls, the mechanism, the credential. A real broker is not shown a password by SCRAM, and does
 * not repeat one that PLAIN shows it; what stands before it may.
 */
#ifndef PATRA_TEST_SUPPORT_KAFKA_REFUSER_H
#define PATRA_TEST_SUPPORT_KAFKA_REFUSER_H

#include <stddef.h>

struct kafka_refuser;

/* The texts are said in turn, and must outlive it. */
struct kafka_refuser *kafka_refuser_start(const char *const *texts, size_t count);
int kafka_refuser_port(const struct kafka_refuser *refuser);
size_t kafka_refuser_refusals(struct kafka_refuser *refuser); /* so far */
void kafka_refuser_stop(struct kafka_refuser *refuser);       /* accepts NULL */

#endif
