/* Failures as answers. */
#include "serve/problem.h"

#include "data/json_write.h"

static const struct {
    const char *code;
    int status;
} BY_CODE[] = {
    { "request.target", 400 },   { "request.parameter", 400 }, { "request.body", 400 },
    { "request.type", 415 },     { "request.method", 405 },    { "route.unknown", 404 },
    { "access.token", 401 },     { "access.scope", 403 },      { "access.host", 403 },
    { "access.origin", 403 },    { "access.rate", 429 },       { "idempotency.key", 422 },
    { "idempotency.busy", 409 }, { "plan.id", 404 },           { "plan.paused", 409 },
    { "plan.stopped", 409 },     { "plan.disabled", 409 },     { "cursor.many", 409 },
    { "record.endpoint", 409 },  { "batch.archived", 404 },
};

static const struct {
    int status;
    const char *title;
} TITLES[] = {
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 409, "Conflict" },
    { 415, "Unsupported Media Type" },
    { 422, "Unprocessable Content" },
    { 429, "Too Many Requests" },
    { 500, "Internal Server Error" },
    { 503, "Service Unavailable" },
};

int problem_status(const struct error *err)
{
    const struct str code = str_of(err->code);

    for (size_t i = 0; i < ARRAY_LEN(BY_CODE); i++) {
        if (str_eq(code, str_of(BY_CODE[i].code)))
            return BY_CODE[i].status;
    }
    if (err->level == ERROR_TRANSIENT)
        return 503;
    if (err->level != ERROR_REQUEST || arena_error_is_limit(err))
        return 500;
    return str_ends(code, STR(".unknown")) ? 404 : 422;
}

static const char *title_of(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(TITLES); i++) {
        if (TITLES[i].status == status)
            return TITLES[i].title;
    }
    return "Error";
}

void problem_write(struct arena *arena, const struct error *err, struct web_response *response)
{
    const size_t body_max = 16384;
    const int status = problem_status(err);
    struct json_writer w;
    struct buf body;
    struct error full;

    buf_init(&body, arena, body_max);
    json_writer_init(&w, &body);
    json_write_object(&w);
    json_write_name(&w, STR("type"));
    json_write_str(&w, arena_printf(arena, "urn:patra:problem:%s", err->code));
    json_write_member_str(&w, STR("title"), str_of(title_of(status)));
    json_write_member_i64(&w, STR("status"), status);
    json_write_member_str(&w, STR("detail"),
                          status == 500 ? STR("the log of the server says what went wrong")
                                        : str_of(err->text));
    json_write_member_str(&w, STR("code"), str_of(err->code));
    json_write_end(&w);
    json_writer_finish(&w);
    response->status = status;
    response->body = buf_ok(&body, &full) ? buf_str(&body) : STR("{}");
    web_header_add(response, STR("Content-Type"), STR("application/problem+json"));
    if (status == 503)
        web_header_add(response, STR("Retry-After"), STR("2"));
    if (status == 429)
        web_header_add(response, STR("Retry-After"), STR("1"));
    if (status == 401)
        web_header_add(response, STR("WWW-Authenticate"), STR("Bearer realm=\"patra\""));
}
