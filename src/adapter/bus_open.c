/* Choosing an adapter by the type of a bus. */
#include "adapter/bus_open.h"

#include "adapter/bus_redact.h"
#include "adapter/curl/curl_http.h"
#include "adapter/webhook/webhook.h"

static bool open_http(struct http **http, struct error *err)
{
    return curl_http_open(NULL, http, err);
}

/* Kafka and Pub/Sub are built only where their libraries are. */
static bool open_module(const char *name, const char *packages, const struct bus_parts *parts,
                        struct bus **bus, struct error *err)
{
    const struct bus_module *module = module_load(name, err);

    if (module == NULL)
        return error_wrap(err, "patra-%s.so is built where %s is installed", name, packages);
    if (module->open_with_http != NULL)
        return module->open_with_http(parts, open_http, bus, err);
    return module->open(parts, bus, err);
}

static bool open_bare(const struct bus_parts *parts, struct bus **bus, struct error *err)
{
    switch (parts->spec->type) {
    case BUS_TYPE_NATS:
        return open_module("nats", "libnats-dev", parts, bus, err);
    case BUS_TYPE_PUBSUB:
        return open_module("pubsub", "libgrpc-dev", parts, bus, err);
    case BUS_TYPE_KAFKA:
        return open_module("kafka", "librdkafka-dev", parts, bus, err);
    case BUS_TYPE_WEBHOOK:
        return webhook_open(parts, open_http, bus, err);
    }
    return error_set(err, ERROR_FATAL, "bus.spec", "not a type of a bus");
}

bool bus_open(const struct bus_parts *parts, struct bus **bus, struct error *err)
{
    return open_bare(parts, bus, err) && bus_redact_open(parts, bus, err);
}
