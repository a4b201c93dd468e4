/* answer: what a NATS server answers, read without trusting it. No library here.
 */
#ifndef PATRA_ADAPTER_NATS_ANSWER_H
#define PATRA_ADAPTER_NATS_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/* The acknowledgement of a published message:
 *      {"stream":"PATRA","seq":7,"duplicate":true}
 *      {"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 5"},...} */
struct nats_ack {
    bool is_error;
    bool is_duplicate; /* the stream had a message of this id */
    int64_t sequence;  /* from 1 */
    int64_t code;      /* of an error: as in HTTP; 0: unknown */
    int64_t err_code;  /* of JetStream; 0: unknown */
    struct str reason;
};

/* False when it is neither. The reason lives in the arena, is printable, and is not long. */
bool nats_ack_read(struct arena *arena, struct str text, struct nats_ack *ack);

/* The same for an answer of the API, of which only the error is of interest. False when it is not
 * an answer. */
bool nats_reply_read(struct arena *arena, struct str text, struct nats_ack *reply);

/* What the reply subject of a delivery says:
 *      $JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time ns>.<pending>
 * and the longer form of later servers, which has a domain and an account after ACK. */
struct nats_delivery_mark {
    int64_t attempt;
    int64_t sequence;
    int64_t published_us;
};

bool nats_delivery_mark_read(struct str reply, struct nats_delivery_mark *mark);

/* Whether every subject of `wanted` ("a.b.*") is one of `pattern` ("a.>"). */
bool nats_subject_covers(struct str pattern, struct str wanted);

/* The token of a subject at the place that "${lane}" has in the template; -1 when it is not a
 * number.
 */
int64_t nats_subject_lane(struct str template, struct str subject);

#endif
