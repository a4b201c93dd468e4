/* The library's settings, from options and secrets. */
#include <stdio.h>
#include <string.h>

#include "adapter/kafka/kafka.h"

bool kafka_set(rd_kafka_conf_t *conf, const char *name, struct str value, struct error *err)
{
    char text[SECRET_BYTES_MAX + 1];
    char why[256];
    rd_kafka_conf_res_t result;

    if (value.len >= sizeof(text) || memchr(value.data, '\0', value.len) != NULL)
        return error_set(err, ERROR_FATAL, "bus.spec", "the setting %s is too long, or has a NUL",
                         name);
    memcpy(text, value.data, value.len);
    text[value.len] = '\0';
    result = rd_kafka_conf_set(conf, name, text, why, sizeof(why));
    explicit_bzero(text, value.len);
    if (result == RD_KAFKA_CONF_OK)
        return true;
    /* The library's text quotes the value, which may be a secret. */
    return error_set(err, ERROR_FATAL, "bus.spec", "librdkafka refuses the setting %s", name);
}

static const struct {
    const char *name;
    const char *value;
} FIXED[] = {
    { "allow.auto.create.topics", "false" },
    { "enable.ssl.certificate.verification", "true" },
    { "ssl.endpoint.identification.algorithm", "https" },
    { "socket.keepalive.enable", "true" },
    { "reconnect.backoff.max.ms", "2000" },
    { "topic.metadata.propagation.max.ms", "2000" }, /* a topic that is missing is reported soon */
    { "log.connection.close", "false" },
};

static struct str protocol_of(const struct bus_spec *spec)
{
    if (spec->auth.user.len > 0)
        return spec->allow_plain ? STR("sasl_plaintext") : STR("sasl_ssl");
    return spec->allow_plain ? STR("plaintext") : STR("ssl");
}

static struct str mechanism_of(const struct bus_spec *spec)
{
    switch (spec->auth.mechanism) {
    case BUS_MECHANISM_PLAIN:
        return STR("PLAIN");
    case BUS_MECHANISM_SCRAM_SHA_256:
        return STR("SCRAM-SHA-256");
    case BUS_MECHANISM_SCRAM_SHA_512:
        break;
    }
    return STR("SCRAM-SHA-512");
}

/* A value that may be a reference. */
static bool set_value(const struct kafka *kafka, rd_kafka_conf_t *conf, const char *name,
                      struct str setting, struct error *err)
{
    struct secret secret = { 0 };
    bool ok;

    if (setting.len == 0)
        return true;
    if (!secret_is_reference(setting))
        return kafka_set(conf, name, setting, err);
    if (!secret_get(kafka->parts.secrets, setting, &secret, err))
        return false;
    ok = kafka_set(conf, name, secret_str(&secret), err);
    secret_wipe(&secret);
    return ok;
}

static bool set_security(const struct kafka *kafka, rd_kafka_conf_t *conf, struct error *err)
{
    const struct bus_spec *spec = kafka->parts.spec;

    if (!kafka_set(conf, "security.protocol", protocol_of(spec), err))
        return false;
    if (!spec->allow_plain &&
        !(set_value(kafka, conf, "ssl.ca.location", spec->tls.ca, err) &&
          set_value(kafka, conf, "ssl.certificate.pem", spec->tls.certificate, err) &&
          set_value(kafka, conf, "ssl.key.pem", spec->tls.key, err)))
        return false;
    return spec->auth.user.len == 0 ||
           (kafka_set(conf, "sasl.mechanism", mechanism_of(spec), err) &&
            set_value(kafka, conf, "sasl.username", spec->auth.user, err) &&
            set_value(kafka, conf, "sasl.password", spec->auth.password, err));
}

/* The library would print its lines. What matters of them comes as errors, too. */
static void take_line(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    (void)rk;
    (void)level;
    (void)facility;
    (void)text;
}

static bool set_common(const struct kafka *kafka, rd_kafka_conf_t *conf, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(FIXED); i++) {
        if (!kafka_set(conf, FIXED[i].name, str_of(FIXED[i].value), err))
            return false;
    }
    return kafka_set(conf, "bootstrap.servers", str_of(kafka->servers), err) &&
           kafka_set(conf, "client.id", STR("patra"), err) && set_security(kafka, conf, err);
}

bool kafka_settings(const struct kafka *kafka, rd_kafka_conf_t **conf, struct error *err)
{
    *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(*conf, take_line);
    if (set_common(kafka, *conf, err))
        return true;
    rd_kafka_conf_destroy(*conf);
    *conf = NULL;
    return false;
}

bool kafka_settings_check(const struct bus_spec *spec, struct error *err)
{
    if (spec->address_count == 0)
        return error_set(err, ERROR_FATAL, "bus.spec", "no Kafka server is named");
    if (spec->topic.len == 0 || spec->topic.len > 249)
        return error_set(err, ERROR_FATAL, "bus.spec",
                         "the name of a topic has 1 to 249 characters");
    if (spec->auth.user.len > 0 && !secret_is_reference(spec->auth.password))
        return error_set(err, ERROR_FATAL, "bus.spec",
                         "a user needs a password, by reference (env:NAME, file:PATH)");
    if (spec->auth.user.len > 0 && spec->allow_plain && spec->auth.mechanism == BUS_MECHANISM_PLAIN)
        return error_set(err, ERROR_FATAL, "bus.spec",
                         "with auth.mechanism plain the password would be sent without TLS");
    return true;
}
