/* Whether it lives, whether it can answer, what it measures, and what it offers. */
#include "port/store_rate.h"
#include "serve/call.h"
#include "serve/openapi.h"
#include "view/metrics.h"

/* The process answers. */
static bool show_health(struct call *call, struct error *err)
{
    (void)err;
    json_write_object(&call->w);
    json_write_member_str(&call->w, STR("status"), STR("ok"));
    json_write_member_str(&call->w, STR("version"), STR(PATRA_VERSION));
    json_write_end(&call->w);
    return true;
}

/* ... and so does the store, with a schema that this program knows. */
static bool show_ready(struct call *call, struct error *err)
{
    int64_t now_us;

    if (!api_seat_store(call->api, call->seat, &call->reader.store, err) ||
        !store_clock(call->reader.store, call->reader.now_us, &now_us, err) ||
        !store_schema_check(call->reader.store, err)) {
        err->level = ERROR_TRANSIENT; /* whatever it is, this process is not ready */
        return false;
    }
    json_write_object(&call->w);
    json_write_member_str(&call->w, STR("status"), STR("ready"));
    json_write_end(&call->w);
    return true;
}

static bool show_metrics(struct call *call, struct error *err)
{
    const struct api_settings *settings = api_settings(call->api);

    if (!view_metrics_write(&call->reader, &call->body, err))
        return false;
    meters_write(settings->meters, &call->body);
    meters_write(api_meters(call->api), &call->body);
    return true;
}

static bool show_openapi(struct call *call, struct error *err)
{
    (void)err;
    openapi_write(&call->w);
    return true;
}

static const struct route ROUTES[] = {
    { .method = "GET",
      .path = "/healthz",
      .name = "showHealth",
      .summary = "Whether the process answers",
      .access = ROUTE_FREE,
      .run = show_health },
    { .method = "GET",
      .path = "/readyz",
      .name = "showReadiness",
      .summary = "Whether the store answers, too; 503 where it does not",
      .access = ROUTE_FREE,
      .run = show_ready },
    { .method = "GET",
      .path = "/metrics",
      .name = "showMetrics",
      .summary = "The state of the store and what this process did, for Prometheus",
      .command = "patra status --prometheus",
      .type = "text/plain; version=0.0.4; charset=utf-8",
      .access = ROUTE_READS,
      .run = show_metrics },
    { .method = "GET",
      .path = "/openapi.json",
      .name = "showOpenApi",
      .summary = "This description",
      .access = ROUTE_READS,
      .run = show_openapi },
};

const struct route_group ROUTES_HEALTH = { "Health", ROUTES, ARRAY_LEN(ROUTES) };
