/* The table of routes as OpenAPI 3.1. */
#include "serve/openapi.h"

#include <string.h>

#include "serve/route.h"

static void member(struct json_writer *w, const char *name, const char *value)
{
    json_write_member_str(w, str_of(name), str_of(value));
}

static void begin(struct json_writer *w, const char *name)
{
    json_write_name(w, str_of(name));
    json_write_object(w);
}

/* ---- parameters ---- */

static void write_type(struct json_writer *w, const struct param *param)
{
    static const char *const types[] = {
        [PARAM_TEXT] = "string", [PARAM_NUMBER] = "integer", [PARAM_INSTANT] = "string",
        [PARAM_SPAN] = "string", [PARAM_CODE] = "string",    [PARAM_FLAG] = "boolean",
        [PARAM_TEXTS] = "array", [PARAM_ROWS] = "array",     [PARAM_PAIRS] = "object",
    };

    member(w, "type", types[param->kind]);
}

static void write_enum(struct json_writer *w, const struct code_table *codes)
{
    json_write_name(w, STR("enum"));
    json_write_array(w);
    for (size_t i = 0; i < codes->count; i++)
        json_write_str(w, codes->items[i].code);
    json_write_end(w);
}

static void write_number(struct json_writer *w, const struct param *param)
{
    json_write_member_i64(w, STR("minimum"), param->least);
    json_write_member_i64(w, STR("maximum"), param->most);
    if (param->otherwise != 0)
        json_write_member_i64(w, STR("default"), param->otherwise);
}

static void write_items(struct json_writer *w, const struct param *param)
{
    json_write_member_i64(w, STR("maxItems"), param->most > 0 ? param->most : PARAM_ITEMS_MAX);
    begin(w, "items");
    member(w, "type", param->kind == PARAM_ROWS ? "integer" : "string");
    if (param->kind == PARAM_ROWS)
        json_write_member_i64(w, STR("minimum"), 1);
    json_write_end(w);
}

static void write_schema(struct json_writer *w, const struct param *param)
{
    write_type(w, param);
    switch (param->kind) {
    case PARAM_TEXT:
        if (param->is_required || param->place == IN_PATH)
            json_write_member_i64(w, STR("minLength"), 1);
        json_write_member_i64(w, STR("maxLength"), param->most > 0 ? param->most : PARAM_TEXT_MAX);
        break;
    case PARAM_NUMBER:
        write_number(w, param);
        break;
    case PARAM_CODE:
        write_enum(w, param->codes);
        break;
    case PARAM_TEXTS:
    case PARAM_ROWS:
        write_items(w, param);
        break;
    case PARAM_PAIRS:
        begin(w, "additionalProperties");
        member(w, "type", "string");
        json_write_end(w);
        break;
    case PARAM_INSTANT:
    case PARAM_SPAN:
    case PARAM_FLAG:
        break;
    }
}

static void write_parameters(struct json_writer *w, const struct route *route)
{
    json_write_name(w, STR("parameters"));
    json_write_array(w);
    for (size_t i = 0; i < PARAMS_MAX && route->params[i].name != NULL; i++) {
        const struct param *param = &route->params[i];

        if (param->place == IN_BODY)
            continue;
        json_write_object(w);
        member(w, "name", param->name);
        member(w, "in", param->place == IN_PATH ? "path" : "query");
        json_write_member_bool(w, STR("required"), param->place == IN_PATH || param->is_required);
        member(w, "description", param->help);
        begin(w, "schema");
        write_schema(w, param);
        json_write_end(w);
        json_write_end(w);
    }
    if (route->access == ROUTE_CHANGES) {
        json_write_object(w);
        member(w, "$ref", "#/components/parameters/IdempotencyKey");
        json_write_end(w);
    }
    json_write_end(w);
}

/* The next parameter of the body, from *at on; NULL: there is none. */
static const struct param *next_of_body(const struct route *route, size_t *at)
{
    while (*at < PARAMS_MAX && route->params[*at].name != NULL) {
        const struct param *param = &route->params[(*at)++];

        if (param->place == IN_BODY)
            return param;
    }
    return NULL;
}

static void write_properties(struct json_writer *w, const struct route *route)
{
    const struct param *param;

    begin(w, "properties");
    for (size_t at = 0; (param = next_of_body(route, &at)) != NULL;) {
        begin(w, param->name);
        member(w, "description", param->help);
        write_schema(w, param);
        json_write_end(w);
    }
    json_write_end(w);
}

/* Returns whether there are any. */
static bool write_required(struct json_writer *w, const struct route *route)
{
    const struct param *param;
    bool any = false;

    json_write_name(w, STR("required"));
    json_write_array(w);
    for (size_t at = 0; (param = next_of_body(route, &at)) != NULL;) {
        if (param->is_required)
            json_write_str(w, str_of(param->name));
        any |= param->is_required;
    }
    json_write_end(w);
    return any;
}

static void write_body(struct json_writer *w, const struct route *route)
{
    bool is_required;

    begin(w, "requestBody");
    begin(w, "content");
    begin(w, "application/json");
    begin(w, "schema");
    member(w, "type", "object");
    json_write_member_bool(w, STR("additionalProperties"), false);
    write_properties(w, route);
    is_required = write_required(w, route);
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
    json_write_member_bool(w, STR("required"), is_required);
    json_write_end(w);
}

/* ---- responses ---- */

static void write_response(struct json_writer *w, const char *status, const char *description,
                           const char *type)
{
    begin(w, status);
    member(w, "description", description);
    begin(w, "content");
    begin(w, type);
    begin(w, "schema");
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

static void write_problem(struct json_writer *w, const char *status)
{
    begin(w, status);
    member(w, "$ref", "#/components/responses/Problem");
    json_write_end(w);
}

static void write_responses(struct json_writer *w, const struct route *route)
{
    static const char *const reading[] = { "304", "400", "401", "403", "404", "405",
                                           "409", "422", "429", "500", "503" };
    static const char *const changing[] = { "400", "401", "403", "404", "405", "409",
                                            "413", "415", "422", "429", "500", "503" };
    const bool is_change = route->access == ROUTE_CHANGES;
    const char *const *codes = is_change ? changing : reading;
    const size_t count = is_change ? ARRAY_LEN(changing) : ARRAY_LEN(reading);
    char media[64] = "application/json";

    if (route->type != NULL) { /* without its parameters */
        const size_t len = strcspn(route->type, ";");

        memcpy(media, route->type, len);
        media[len] = '\0';
    }
    begin(w, "responses");
    write_response(w, "200", route->summary, media);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(codes[i], "304") == 0) {
            begin(w, "304");
            member(w, "description", "The client has it already (If-None-Match).");
            json_write_end(w);
        } else {
            write_problem(w, codes[i]);
        }
    }
    json_write_end(w);
}

/* ---- routes ---- */

static void write_security(struct json_writer *w, const struct route *route)
{
    json_write_name(w, STR("security"));
    json_write_array(w);
    if (route->access != ROUTE_FREE) {
        json_write_object(w);
        json_write_name(w, STR("token"));
        json_write_array(w);
        json_write_end(w);
        json_write_end(w);
    }
    if (route->access == ROUTE_READS) { /* on the machine of the server */
        json_write_object(w);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_route(struct json_writer *w, const struct route_group *group,
                        const struct route *route)
{
    begin(w, strcmp(route->method, "GET") == 0 ? "get" : "post");
    member(w, "operationId", route->name);
    member(w, "summary", route->summary);
    if (route->command != NULL)
        member(w, "x-command", route->command);
    json_write_name(w, STR("tags"));
    json_write_array(w);
    json_write_str(w, str_of(group->name));
    json_write_end(w);
    write_security(w, route);
    write_parameters(w, route);
    if (route->access == ROUTE_CHANGES)
        write_body(w, route);
    write_responses(w, route);
    json_write_end(w);
}

/* No path has two methods; unit-serve-openapi says when that is so no more. */
static void write_paths(struct json_writer *w)
{
    begin(w, "paths");
    for (size_t i = 0; ROUTE_GROUPS[i] != NULL; i++) {
        for (size_t k = 0; k < ROUTE_GROUPS[i]->count; k++) {
            if (ROUTE_GROUPS[i] == &ROUTES_PAGES)
                continue;
            begin(w, ROUTE_GROUPS[i]->routes[k].path);
            write_route(w, ROUTE_GROUPS[i], &ROUTE_GROUPS[i]->routes[k]);
            json_write_end(w);
        }
    }
    json_write_end(w);
}

static const char COMPONENTS[] =
    "{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\","
    "\"description\":\"Made by patra token new. Scope read for GET, operate for POST.\"}},"
    "\"parameters\":{\"IdempotencyKey\":{\"name\":\"Idempotency-Key\",\"in\":\"header\","
    "\"required\":false,\"description\":\"A repetition under the same key within a day is not "
    "carried out again.\",\"schema\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":255}}},"
    "\"responses\":{\"Problem\":{\"description\":\"What is wrong (RFC 9457).\",\"content\":{"
    "\"application/problem+json\":{\"schema\":{\"$ref\":\"#/components/schemas/Problem\"}}}}},"
    "\"schemas\":{\"Problem\":{\"type\":\"object\",\"required\":[\"type\",\"title\",\"status\","
    "\"code\"],\"properties\":{\"type\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},"
    "\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":\"string\"},"
    "\"code\":{\"type\":\"string\"}}}}}";

void openapi_write(struct json_writer *w)
{
    json_write_object(w);
    member(w, "openapi", "3.1.0");
    begin(w, "info");
    member(w, "title", "patra");
    member(w, "version", PATRA_VERSION);
    member(w, "description",
           "What patra knows of its sources, records and events, and what people do about them. "
           "Bodies of GET are what the commands print with --json. Lists are paged by key: Link "
           "rel=\"next\".");
    json_write_end(w);
    write_paths(w);
    json_write_name(w, STR("components"));
    json_write_raw(w, str_of(COMPONENTS));
    json_write_end(w);
}
