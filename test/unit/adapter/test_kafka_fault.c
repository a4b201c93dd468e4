/* librdkafka's results as errors of the port. */
#include "adapter/kafka/fault.h"

#include <string.h>

#include "test.h"

static const struct {
    rd_kafka_resp_err_t result;
    const char *code;
    enum error_level level;
    bool is_of_message;
} cases[] = {
    { RD_KAFKA_RESP_ERR__TRANSPORT, "bus.lost", ERROR_TRANSIENT, false },
    { RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "bus.lost", ERROR_TRANSIENT, false },
    { RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, "bus.lost", ERROR_TRANSIENT, false },
    { RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, "bus.lost", ERROR_TRANSIENT, false },
    { RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, "bus.timeout", ERROR_TRANSIENT, false },
    { RD_KAFKA_RESP_ERR__TIMED_OUT, "bus.timeout", ERROR_TRANSIENT, false },
    { RD_KAFKA_RESP_ERR__QUEUE_FULL, "bus.busy", ERROR_TRANSIENT, false },
    { RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, "bus.busy", ERROR_TRANSIENT, false },
    { RD_KAFKA_RESP_ERR__FENCED, "bus.fenced", ERROR_TRANSIENT, false },
    { RD_KAFKA_RESP_ERR_PRODUCER_FENCED, "bus.fenced", ERROR_TRANSIENT, false },
    { RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, "bus.fenced", ERROR_TRANSIENT, false },
    { RD_KAFKA_RESP_ERR__AUTHENTICATION, "bus.auth", ERROR_FATAL, false },
    { RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, "bus.auth", ERROR_FATAL, false },
    { RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "bus.auth", ERROR_FATAL, false },
    { RD_KAFKA_RESP_ERR__SSL, "bus.tls", ERROR_FATAL, false },
    { RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, "bus.missing", ERROR_FATAL, false },
    { RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, "bus.missing", ERROR_FATAL, false },
    { RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM, "bus.spec", ERROR_FATAL, false },
    { RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, "bus.refused", ERROR_REQUEST, true },
    { RD_KAFKA_RESP_ERR_INVALID_RECORD, "bus.refused", ERROR_REQUEST, true },
};

TEST(each_result_of_the_library_is_one_error)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct kafka_fault fault = kafka_fault(cases[i].result);
        const char *label = rd_kafka_err2name(cases[i].result);

        CHECK_STR(str_of(fault.code), str_of(cases[i].code), label);
        CHECK_EQ(fault.level, cases[i].level, label);
        CHECK_EQ(fault.is_of_message, cases[i].is_of_message, label);
    }
}

TEST(no_result_of_the_library_is_without_an_error)
{
    const struct rd_kafka_err_desc *all;
    size_t count;

    rd_kafka_get_err_descs(&all, &count);
    CHECK(count > 100, "the library lists its results");
    for (size_t i = 0; i < count; i++) {
        const struct kafka_fault fault = kafka_fault(all[i].code);

        CHECK(fault.level == ERROR_TRANSIENT || fault.level == ERROR_FATAL ||
                  (fault.level == ERROR_REQUEST && fault.is_of_message),
              all[i].desc != NULL ? all[i].desc : "");
        CHECK(strncmp(fault.code, "bus.", 4) == 0, fault.code);
    }
}

TEST(the_worse_of_two_faults_is_reported)
{
    const struct kafka_fault lost = kafka_fault(RD_KAFKA_RESP_ERR__TRANSPORT);
    const struct kafka_fault late = kafka_fault(RD_KAFKA_RESP_ERR__TIMED_OUT);
    const struct kafka_fault auth = kafka_fault(RD_KAFKA_RESP_ERR__AUTHENTICATION);

    CHECK_STR(str_of(kafka_fault_worse(lost, auth).code), STR("bus.auth"), "the second");
    CHECK_STR(str_of(kafka_fault_worse(auth, lost).code), STR("bus.auth"), "the first");
    CHECK_STR(str_of(kafka_fault_worse(late, lost).code), STR("bus.timeout"), "equal: the first");
}
