/* The variables of OpenTelemetry. */
#include "worker/tracing_settings.h"

#include <string.h>

#include "data/url.h"

static struct str value_of(const char *(*get)(const char *name), const char *name)
{
    return str_trim(str_of(get(name)));
}

static bool read_headers(struct arena *arena, struct str text, struct tracing_settings *settings,
                         struct error *err)
{
    while (text.len > 0) {
        struct str pair = str_trim(str_cut(&text, ','));
        const bool has_value = str_find_char(pair, '=') < pair.len;
        const struct str name = str_trim(str_cut(&pair, '='));

        if (name.len == 0 && pair.len == 0)
            continue;
        if (name.len == 0 || !has_value || settings->header_count == TRACING_HEADERS_MAX)
            return error_set(err, ERROR_REQUEST, "tracing.setting",
                             "OTEL_EXPORTER_OTLP_HEADERS: up to %d of name=value, with commas "
                             "between them",
                             TRACING_HEADERS_MAX);
        settings->headers[settings->header_count++] =
            (struct http_header){ name, url_decode(arena, str_trim(pair), URL_PATH) };
    }
    return !arena->failed || arena_error(arena, err);
}

static bool read_url(struct arena *arena, struct str whole, struct str base,
                     struct tracing_settings *settings, struct error *err)
{
    const char *name =
        whole.len > 0 ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" : "OTEL_EXPORTER_OTLP_ENDPOINT";
    struct url url;

    if (whole.len == 0 && str_ends(base, STR("/")))
        base.len--;
    settings->url = whole.len > 0 ? whole : arena_printf(arena, "%.*s/v1/traces", STR_ARG(base));
    if (settings->url.data == NULL)
        return arena_error(arena, err);
    return (url_parse(settings->url, &url, err) && url.userinfo.data == NULL &&
            (str_eq(url.scheme, STR("http")) || str_eq(url.scheme, STR("https")))) ||
           error_set(err, ERROR_REQUEST, "tracing.setting",
                     "%s: not a URL with http or https, without a user in it", name);
}

bool tracing_settings_read(struct arena *arena, const char *(*get)(const char *name),
                           struct tracing_settings *settings, struct error *err)
{
    const struct str whole = value_of(get, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    const struct str base = value_of(get, "OTEL_EXPORTER_OTLP_ENDPOINT");

    *settings = (struct tracing_settings){ .service = value_of(get, "OTEL_SERVICE_NAME") };
    if (settings->service.len == 0)
        settings->service = STR("patra");
    settings->is_on =
        (whole.len > 0 || base.len > 0) && !str_eq(value_of(get, "OTEL_SDK_DISABLED"), STR("true"));
    if (!settings->is_on)
        return true;
    if (str_eq(value_of(get, "OTEL_EXPORTER_OTLP_PROTOCOL"), STR("grpc")))
        return error_set(err, ERROR_REQUEST, "tracing.setting",
                         "OTEL_EXPORTER_OTLP_PROTOCOL: spans are sent as http/json, not by grpc; "
                         "collectors take that at another port (4318)");
    return read_url(arena, whole, base, settings, err) &&
           read_headers(arena, value_of(get, "OTEL_EXPORTER_OTLP_HEADERS"), settings, err);
}
