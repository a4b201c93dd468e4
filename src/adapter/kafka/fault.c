/* Which error of the port each result of librdkafka is. */
#include "adapter/kafka/fault.h"

#include <stddef.h>

#include "base/attr.h"

#define LOST                               \
    {                                      \
        ERROR_TRANSIENT, "bus.lost", false \
    }
#define BUSY                               \
    {                                      \
        ERROR_TRANSIENT, "bus.busy", false \
    }
#define LATE                                  \
    {                                         \
        ERROR_TRANSIENT, "bus.timeout", false \
    }
#define FENCED                               \
    {                                        \
        ERROR_TRANSIENT, "bus.fenced", false \
    }
#define AUTH                           \
    {                                  \
        ERROR_FATAL, "bus.auth", false \
    }
#define TLS                           \
    {                                 \
        ERROR_FATAL, "bus.tls", false \
    }
#define MISSING                           \
    {                                     \
        ERROR_FATAL, "bus.missing", false \
    }
#define SPEC                           \
    {                                  \
        ERROR_FATAL, "bus.spec", false \
    }
#define REFUSED                            \
    {                                      \
        ERROR_REQUEST, "bus.refused", true \
    }

static const struct row {
    rd_kafka_resp_err_t result;
    struct kafka_fault fault;
} rows[] = {
    { RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, REFUSED },
    { RD_KAFKA_RESP_ERR_INVALID_MSG, REFUSED },
    { RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE, REFUSED },
    { RD_KAFKA_RESP_ERR_INVALID_RECORD, REFUSED },
    { RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, REFUSED },
    { RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, REFUSED },

    { RD_KAFKA_RESP_ERR__TIMED_OUT, LATE },
    { RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, LATE },
    { RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE, LATE },
    { RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, LATE },
    { RD_KAFKA_RESP_ERR__PURGE_QUEUE, LATE },
    { RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, LATE },

    { RD_KAFKA_RESP_ERR__QUEUE_FULL, BUSY },
    { RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED, BUSY },
    { RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, BUSY },
    { RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, BUSY },
    { RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, BUSY },
    { RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, BUSY },
    { RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, BUSY },

    { RD_KAFKA_RESP_ERR__FENCED, FENCED },
    { RD_KAFKA_RESP_ERR_PRODUCER_FENCED, FENCED },
    { RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, FENCED },

    { RD_KAFKA_RESP_ERR__AUTHENTICATION, AUTH },
    { RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, AUTH },
    { RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE, AUTH },
    { RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, AUTH },
    { RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, AUTH },
    { RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, AUTH },
    { RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, AUTH },

    { RD_KAFKA_RESP_ERR__SSL, TLS },

    { RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, MISSING },
    { RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, MISSING },
    { RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, MISSING },
    { RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION, MISSING },

    { RD_KAFKA_RESP_ERR__INVALID_ARG, SPEC },
    { RD_KAFKA_RESP_ERR__NOT_CONFIGURED, SPEC },
    { RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED, SPEC },
    { RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, SPEC },
    { RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM, SPEC },
    { RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION, SPEC },
    { RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT, SPEC },
    { RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS, SPEC },
    { RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT, SPEC },
    { RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT, SPEC },
    { RD_KAFKA_RESP_ERR_POLICY_VIOLATION, SPEC },
};

struct kafka_fault kafka_fault(rd_kafka_resp_err_t result)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].result == result)
            return rows[i].fault;
    }
    return (struct kafka_fault)LOST;
}

struct kafka_fault kafka_fault_worse(struct kafka_fault a, struct kafka_fault b)
{
    return b.level > a.level ? b : a;
}
