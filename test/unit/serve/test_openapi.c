/* The description against the table of routes: nothing is missing, nothing is twice. */
#include "serve/openapi.h"

#include <string.h>

#include "data/json.h"
#include "serve/route.h"
#include "test.h"

static struct json_doc describe(struct arena *arena)
{
    struct json_writer w;
    struct json_doc doc;
    struct error err = { 0 };
    struct buf out;

    buf_init(&out, arena, 1 << 20);
    json_writer_init(&w, &out);
    openapi_write(&w);
    json_writer_finish(&w);
    REQUIRE_OK(buf_ok(&out, &err) && json_parse(&doc, arena, buf_str(&out), &err), err);
    return doc;
}

static bool has_param(const struct json_doc *doc, struct json_node operation,
                      const struct param *param)
{
    struct json_iter it = json_each(doc, json_get(doc, operation, STR("parameters")));
    const struct str in = param->place == IN_PATH ? STR("path") : STR("query");
    struct json_node schema =
        json_get(doc, json_get(doc, operation, STR("requestBody")), STR("content"));

    schema = json_get(doc, json_get(doc, schema, STR("application/json")), STR("schema"));
    if (param->place == IN_BODY)
        return json_exists(
            json_get(doc, json_get(doc, schema, STR("properties")), str_of(param->name)));
    while (json_next(&it)) {
        if (json_string_is(doc, json_get(doc, it.value, STR("name")), str_of(param->name)) &&
            json_string_is(doc, json_get(doc, it.value, STR("in")), in))
            return true;
    }
    return false;
}

static size_t check_route(const struct json_doc *doc, const struct route *route)
{
    const struct json_node paths = json_get(doc, json_root(doc), STR("paths"));
    const struct json_node operation =
        json_get(doc, json_get(doc, paths, str_of(route->path)),
                 strcmp(route->method, "GET") == 0 ? STR("get") : STR("post"));
    size_t count = 0;

    REQUIRE(json_exists(operation), route->path);
    CHECK(json_string_is(doc, json_get(doc, operation, STR("operationId")), str_of(route->name)),
          route->path);
    for (; count < PARAMS_MAX && route->params[count].name != NULL; count++) {
        CHECK(has_param(doc, operation, &route->params[count]), route->params[count].name);
        CHECK(route->params[count].help != NULL, route->params[count].name);
    }
    return count;
}

TEST(every_route_and_parameter_is_described)
{
    size_t routes = 0, params = 0;
    struct json_doc doc;
    struct arena arena;

    arena_init(&arena, 8 << 20);
    doc = describe(&arena);
    for (size_t i = 0; ROUTE_GROUPS[i] != NULL; i++) {
        if (ROUTE_GROUPS[i] == &ROUTES_PAGES)
            continue;
        for (size_t k = 0; k < ROUTE_GROUPS[i]->count; k++, routes++)
            params += check_route(&doc, &ROUTE_GROUPS[i]->routes[k]);
    }
    CHECK_EQ(json_count(&doc, json_get(&doc, json_root(&doc), STR("paths"))), routes,
             "no path is twice, and none is more");
    test_note("%zu routes, %zu parameters", routes, params);
    arena_release(&arena);
}

TEST(what_is_in_a_path_is_in_its_table)
{
    for (size_t i = 0; ROUTE_GROUPS[i] != NULL; i++) {
        for (size_t k = 0; k < ROUTE_GROUPS[i]->count; k++) {
            const struct route *route = &ROUTE_GROUPS[i]->routes[k];
            size_t wanted = 0, found = 0;

            for (const char *c = route->path; *c != '\0'; c++)
                wanted += *c == '{';
            for (size_t p = 0; p < PARAMS_MAX && route->params[p].name != NULL; p++)
                found += route->params[p].place == IN_PATH;
            CHECK_EQ(found, wanted, route->path);
            if (ROUTE_GROUPS[i] == &ROUTES_PAGES) /* only signing in and out is posted */
                CHECK_EQ(strcmp(route->method, "POST") == 0,
                         route->access == ROUTE_FREE && strncmp(route->name, "sign", 4) == 0,
                         route->name);
            else
                CHECK_EQ(strcmp(route->method, "POST") == 0, route->access == ROUTE_CHANGES,
                         route->path);
        }
    }
}
