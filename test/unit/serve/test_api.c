/* The API without sockets: requests in, responses out, on a SQLite store. */
#include "serve/api.h"

#include "engine/token/token.h"
#include "fault_store.h"
#include "port/store_pause.h"
#include "seeded_random.h"
#include "serve/live.h"
#include "serve/route.h"
#include "view_rig.h"
#include "virtual_clock.h"

/* ---- the rig ---- */

struct rig {
    struct store *store;
    struct virtual_clock clock;
    struct seeded_random random;
    struct api *api;
    struct arena arena;
    char reads[TOKEN_TEXT_MAX];
    char operates[TOKEN_TEXT_MAX];
    char old[TOKEN_TEXT_MAX];
    char revoked[TOKEN_TEXT_MAX];
};

static void make_token(struct rig *rig, const char *name, enum token_scope scope,
                       int64_t expires_us, char text[TOKEN_TEXT_MAX])
{
    const struct token_request request = { str_of(name), scope, expires_us, STR("tests"),
                                           NOW_US - 1 };
    struct error err = { 0 };

    REQUIRE_OK(token_make(rig->store, &rig->random.source, &request, text, &err), err);
}

static void rig_open(struct rig *rig, struct access_rules rules)
{
    struct error err = { 0 };
    bool revoked;

    *rig = (struct rig){ .store = view_rig_store() };
    virtual_clock_init(&rig->clock, NOW_US);
    seeded_random_init(&rig->random, 7);
    arena_init(&rig->arena, (size_t)64 << 20);
    make_token(rig, "reader", TOKEN_READ, 0, rig->reads);
    make_token(rig, "ops", TOKEN_OPERATE, NOW_US + 1, rig->operates);
    make_token(rig, "old", TOKEN_OPERATE, NOW_US, rig->old);
    make_token(rig, "gone", TOKEN_OPERATE, 0, rig->revoked);
    REQUIRE_OK(store_token_revoke(rig->store,
                                  &(struct token_revocation){ STR("gone"), STR("tests"), NOW_US },
                                  &revoked, &err),
               err);
    fault_store_wrap(rig->store);
    REQUIRE_OK(api_open(&rig->api,
                        &(struct api_settings){ .store = rig->store,
                                                .seats = 1,
                                                .access = rules,
                                                .clock = &rig->clock.clock,
                                                .random = &rig->random.source },
                        &err),
               err);
}

static void rig_close(struct rig *rig)
{
    api_close(rig->api);
    arena_release(&rig->arena);
    contract_end();
}

/* A reader on this machine. */
static struct web_request get(const char *target)
{
    return (struct web_request){ .method = STR("GET"),
                                 .target = str_of(target),
                                 .host = STR("localhost:8470"),
                                 .peer = STR("127.0.0.1"),
                                 .is_loopback = true };
}

static struct str bearer(struct rig *rig, const char *token)
{
    return arena_printf(&rig->arena, "Bearer %s", token);
}

static struct web_request post(struct rig *rig, const char *target, const char *body)
{
    struct web_request request = get(target);

    request.method = STR("POST");
    request.body = str_of(body);
    request.content_type = STR("application/json");
    request.authorization = bearer(rig, rig->operates);
    return request;
}

static struct web_response answer(struct rig *rig, struct web_request request)
{
    struct web_response response = { 0 };
    struct web_handler *handler = api_handler(rig->api);

    handler->handle(handler, 0, &rig->arena, &request, &response);
    return response;
}

static struct str header_of(const struct web_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (str_eq_nocase(response->headers[i].name, str_of(name)))
            return response->headers[i].value;
    }
    return (struct str){ 0 };
}

static bool has(struct str text, const char *needle)
{
    return str_find(text, str_of(needle)) < text.len;
}

/* ---- reading ---- */

TEST(whoever_is_on_this_machine_may_read)
{
    struct rig rig;
    struct web_response response;
    struct plan_result plan;

    rig_open(&rig, (struct access_rules){ 0 });
    plan = view_rig_harvest(rig.store);
    response = answer(&rig, get("/v1/tasks?limit=2&source=demo"));
    CHECK_EQ(response.status, 200, "tasks");
    CHECK(has(response.body, "\"status\":\"QUEUED\""), "as the view writes them");
    CHECK_STR(header_of(&response, "Link"),
              STR("</v1/tasks?limit=2&source=demo&after=2>; rel=\"next\""), "the next page");
    CHECK_STR(header_of(&response, "X-Content-Type-Options"), STR("nosniff"), "safe");
    response = answer(&rig, get("/v1/tasks?limit=2&source=demo&after=2"));
    CHECK_EQ(header_of(&response, "Link").len, 0, "the last page has no next");
    response = answer(&rig, get("/v1/plans/1/lineage"));
    CHECK_EQ(response.status, 200, "lineage");
    CHECK(has(response.body, "\"tasks\":[{\"id\":1,"), "with its tasks");
    response = answer(&rig, get("/v1/queue"));
    CHECK(has(response.body, "\"queued\":3"), "the queue");
    CHECK_EQ(plan.plan_id, 1, "of the first plan");
    rig_close(&rig);
}

TEST(every_reading_route_answers_and_is_tagged)
{
    static const char *const targets[] = {
        "/healthz",
        "/readyz",
        "/openapi.json",
        "/v1/sources",
        "/v1/status",
        "/v1/pauses",
        "/v1/gates",
        "/v1/plans",
        "/v1/plans/1",
        "/v1/tasks",
        "/v1/tasks/1",
        "/v1/tasks/1/runs",
        "/v1/runs/1/batches",
        "/v1/cursors",
        "/v1/cursors/demo",
        "/v1/records/demo",
        "/v1/record-counts",
        "/v1/why/demo/1",
        "/v1/quarantine",
        "/v1/signals",
        "/v1/outbox",
        "/v1/parked",
        "/v1/projections",
        "/v1/queue",
        "/v1/late",
        "/v1/plans/1/lineage",
        "/v1/cursor-timeline/demo",
        "/v1/errors",
        "/v1/plans/1/trace",
        "/v1/tasks/1/trace",
        "/v1/coverage/demo",
        "/v1/sources/demo/preview?operation=harvest&from=2025-02-01&to=2025-02-03",
        "/",
        "/runs",
        "/runs?source=&operation=&status=",
        "/runs/plan/1",
        "/runs/task/1",
        "/cursors",
        "/cursors/demo",
        "/preview/demo?operation=harvest&from=2025-02-01&to=2025-02-03",
        "/gate",
        "/events",
        "/errors",
        "/records",
        "/records/demo",
        "/why",
        "/why?source=demo&id=1&date=",
        "/why/demo/1",
        "/login",
        "/style.css",
        "/script.js",
        "/metrics",
    };
    struct web_response response;
    struct web_request again;
    struct rig rig;

    rig_open(&rig, (struct access_rules){ 0 });
    (void)view_rig_harvest(rig.store);
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        response = answer(&rig, get(targets[i]));
        CHECK_EQ(response.status, 200, targets[i]);
        again = get(targets[i]);
        again.if_none_match = header_of(&response, "ETag");
        REQUIRE(again.if_none_match.len > 0, targets[i]);
        if (i + 1 < ARRAY_LEN(targets)) /* the API counts its own answers */
            CHECK_EQ(answer(&rig, again).status, 304, targets[i]);
    }
    rig_close(&rig);
}

static const struct {
    const char *label;
    const char *method;
    const char *target;
    int status;
    const char *code;
} refused[] = {
    { "no such path", "GET", "/v2/tasks", 404, "route.unknown" },
    { "no such task", "GET", "/v1/tasks/99", 404, "task.unknown" },
    { "no such source", "GET", "/v1/tasks?source=dmeo", 404, "source.unknown" },
    { "no such plan", "GET", "/v1/plans/99", 404, "plan.id" },
    { "a bad number", "GET", "/v1/tasks/x", 400, "request.parameter" },
    { "an unknown parameter", "GET", "/v1/tasks?limits=3", 400, "request.parameter" },
    { "a bad target", "GET", "/v1/%zz", 400, "request.target" },
    { "another method", "DELETE", "/v1/tasks/1", 405, "request.method" },
    { "a change by GET", "GET", "/v1/tasks/1/cancel", 405, "request.method" },
};

TEST(what_cannot_be_answered_is_a_problem_with_a_stable_code)
{
    struct rig rig;

    rig_open(&rig, (struct access_rules){ 0 });
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct web_request request = get(refused[i].target);
        struct web_response response;

        request.method = str_of(refused[i].method);
        response = answer(&rig, request);
        CHECK_EQ(response.status, refused[i].status, refused[i].label);
        CHECK_STR(header_of(&response, "Content-Type"), STR("application/problem+json"),
                  refused[i].label);
        CHECK(has(response.body, arena_printf(&rig.arena, "\"code\":\"%s\"", refused[i].code).data),
              refused[i].label);
    }
    rig_close(&rig);
}

/* ---- access ---- */

TEST(without_a_token_nobody_else_reads)
{
    struct web_request request = get("/v1/status");
    struct web_response response;
    struct rig rig;

    rig_open(&rig, (struct access_rules){ 0 });
    request.is_loopback = false;
    response = answer(&rig, request);
    CHECK_EQ(response.status, 401, "from elsewhere");
    CHECK_STR(header_of(&response, "WWW-Authenticate"), STR("Bearer realm=\"patra\""), "how");
    request = get("/v1/status");
    request.is_forwarded = true;
    CHECK_EQ(answer(&rig, request).status, 401, "through a proxy");
    request = get("/v1/status");
    request.host = STR("evil.example");
    CHECK_EQ(answer(&rig, request).status, 403, "by a name that leads here");
    request.host = (struct str){ 0 };
    CHECK_EQ(answer(&rig, request).status, 403, "without a name");
    request = get("/v1/status");
    request.origin = STR("https://evil.example");
    CHECK_EQ(answer(&rig, request).status, 403, "a page of another site");
    request.origin = STR("null");
    CHECK_EQ(answer(&rig, request).status, 403, "a page without a site");
    request.origin = STR("http://localhost:8470");
    CHECK_EQ(answer(&rig, request).status, 200, "a page of its own");
    request = get("/v1/status");
    request.fetch_site = STR("cross-site");
    CHECK_EQ(answer(&rig, request).status, 403, "a browser says so");
    request = get("/v1/status");
    request.is_loopback = false;
    request.host = STR("patra.example");
    request.authorization = bearer(&rig, rig.reads);
    CHECK_EQ(answer(&rig, request).status, 200, "with a token");
    request = get("/healthz");
    request.is_loopback = false;
    CHECK_EQ(answer(&rig, request).status, 200, "everybody may ask whether it lives");
    rig_close(&rig);
}

TEST(where_tokens_are_required_this_machine_needs_one_too)
{
    struct web_request request = get("/v1/status");
    struct rig rig;

    rig_open(&rig, (struct access_rules){ .needs_token = true });
    CHECK_EQ(answer(&rig, request).status, 401, "without");
    request.authorization = bearer(&rig, rig.reads);
    CHECK_EQ(answer(&rig, request).status, 200, "with");
    rig_close(&rig);
}

/* Ways of not being allowed to change something. */
enum way { NO_TOKEN, READS, OLD, REVOKED, WRONG, BASIC, HALF, FOREIGN_PAGE, FORM, WAYS };

static void spoil(struct rig *rig, struct web_request *request, enum way way)
{
    char text[TOKEN_TEXT_MAX];

    memcpy(text, rig->operates, sizeof(text));
    switch (way) {
    case NO_TOKEN:
        request->authorization = (struct str){ 0 };
        return;
    case READS:
        request->authorization = bearer(rig, rig->reads);
        return;
    case OLD:
        request->authorization = bearer(rig, rig->old);
        return;
    case REVOKED:
        request->authorization = bearer(rig, rig->revoked);
        return;
    case WRONG:
        text[30] = text[30] == 'a' ? 'b' : 'a';
        request->authorization = bearer(rig, text);
        return;
    case BASIC:
        request->authorization = arena_printf(&rig->arena, "Basic %s", rig->operates);
        return;
    case HALF:
        request->authorization = str_slice(request->authorization, 0, 40);
        return;
    case FOREIGN_PAGE:
        request->origin = STR("https://evil.example");
        return;
    case FORM:
        request->content_type = STR("application/x-www-form-urlencoded");
        return;
    case WAYS:
        return;
    }
}

/* "/v1/tasks/{task}/cancel" with something in it. */
static struct str filled(struct rig *rig, const char *path)
{
    struct buf out;

    buf_init(&out, &rig->arena, 1000);
    for (; *path != '\0'; path++) {
        if (*path != '{') {
            buf_add_char(&out, *path);
            continue;
        }
        buf_add(&out, path[1] == 's' ? STR("demo") : STR("1"));
        while (*path != '}')
            path++;
    }
    return arena_copy(&rig->arena, buf_str(&out));
}

TEST(of_all_changes_in_all_wrong_ways_none_gets_through)
{
    uint64_t before;
    struct rig rig;
    int tried = 0;

    rig_open(&rig, (struct access_rules){ 0 });
    (void)view_rig_harvest(rig.store);
    before = contract_digest();
    for (size_t i = 0; i < ROUTES_OPERATIONS.count; i++) {
        for (int way = 0; way < WAYS; way++, tried++) {
            const struct str target = filled(&rig, ROUTES_OPERATIONS.routes[i].path);
            struct web_request request = post(&rig, target.data, "{}");
            struct web_response response;

            spoil(&rig, &request, (enum way)way);
            virtual_clock_advance(&rig.clock, INT64_C(60000000));
            virtual_clock_set(&rig.clock, NOW_US);
            response = answer(&rig, request);
            if (response.status != 401 && response.status != 403 && response.status != 415)
                test_fail(__FILE__, __LINE__, "%.*s, way %d: %d %.*s", STR_ARG(target), way,
                          response.status, STR_ARG(response.body));
        }
    }
    CHECK(contract_digest() == before, "nothing was changed");
    test_note("%d changing requests were refused", tried);
    rig_close(&rig);
}

TEST(tokens_that_are_tried_out_are_slowed_down)
{
    struct web_request request = get("/v1/status");
    struct web_response response;
    struct rig rig;
    int refusals = 0;

    rig_open(&rig, (struct access_rules){ 0 });
    request.authorization = STR("Bearer patra_guess");
    for (int i = 0; i < 20; i++)
        refusals += answer(&rig, request).status == 401;
    CHECK_EQ(refusals, 10, "ten tries");
    response = answer(&rig, request);
    CHECK_EQ(response.status, 429, "then none");
    CHECK(header_of(&response, "Retry-After").len > 0, "for a while");
    virtual_clock_advance(&rig.clock, INT64_C(7000000));
    CHECK_EQ(answer(&rig, request).status, 401, "one more");
    rig_close(&rig);
}

TEST(each_token_has_a_rate_of_its_own)
{
    struct web_request request = get("/v1/sources"), other = request;
    struct rig rig;

    rig_open(&rig, (struct access_rules){ .rate = 1, .burst = 2 });
    request.authorization = bearer(&rig, rig.reads);
    CHECK_EQ(answer(&rig, request).status, 200, "the first");
    CHECK_EQ(answer(&rig, request).status, 200, "the second");
    CHECK_EQ(answer(&rig, request).status, 429, "the third");
    other.authorization = bearer(&rig, rig.operates);
    CHECK_EQ(answer(&rig, other).status, 200, "another token");
    rig_close(&rig);
}

/* ---- changes ---- */

TEST(changes_are_made_once_and_name_who_made_them)
{
    struct pause_list pauses;
    struct web_response response;
    struct web_request request;
    struct error err = { 0 };
    struct rig rig;

    rig_open(&rig, (struct access_rules){ 0 });
    response = answer(&rig, post(&rig, "/v1/sources/demo/pause", "{\"reason\":\"a test\"}"));
    CHECK_EQ(response.status, 200, "paused");
    CHECK_STR(response.body, STR("{\"source\":\"demo\",\"outcome\":\"paused\"}"), "the answer");
    REQUIRE_OK(store_pause_list(rig.store, contract_arena(), STR("demo"), &pauses, &err), err);
    REQUIRE(pauses.count == 1, "a row");
    CHECK_STR(pauses.items[0].created_by, STR("token ops"), "who");
    CHECK_STR(pauses.items[0].reason, STR("a test"), "why");
    response = answer(&rig, post(&rig, "/v1/sources/demo/pause", ""));
    CHECK(has(response.body, "already paused"), "again");
    response = answer(&rig, post(&rig, "/v1/sources/demo/trigger", "{}"));
    CHECK_EQ(response.status, 409, "what is paused is not planned");
    response = answer(&rig, post(&rig, "/v1/sources/demo/resume", "{}"));
    CHECK(has(response.body, "resumed"), "resumed");
    request = post(&rig, "/v1/sources/demo/trigger",
                   "{\"from\":\"2025-01-01\",\"to\":\"2025-01-04\",\"dryRun\":true}");
    response = answer(&rig, request);
    CHECK(has(response.body, "\"dryRun\":true"), "a dry run");
    CHECK(has(response.body, "\"sliceCount\":3"), "shows its slices");
    response = answer(&rig, get("/v1/plans"));
    CHECK(!has(response.body, "\"sliceCount\":3"), "and makes no plan");
    request.body = STR("{\"from\":\"2025-01-01\",\"to\":\"2025-01-04\"}");
    response = answer(&rig, request);
    CHECK_EQ(response.status, 200, "triggered");
    response = answer(&rig, post(&rig, "/v1/tasks/1/cancel", "{}"));
    CHECK(has(response.body, "\"outcome\":\"cancelled\""), "a task");
    rig_close(&rig);
}

TEST(a_key_makes_a_change_once)
{
    const char *body = "{\"from\":\"2025-01-01\",\"to\":\"2025-01-02\"}";
    struct web_response first, again;
    struct web_request request;
    struct rig rig;

    rig_open(&rig, (struct access_rules){ 0 });
    request = post(&rig, "/v1/sources/demo/trigger", body);
    request.idempotency_key = STR("k1");
    first = answer(&rig, request);
    CHECK_EQ(first.status, 200, "the first");
    again = answer(&rig, request);
    CHECK_EQ(again.status, 200, "the second");
    CHECK_STR(again.body, first.body, "the same answer, byte for byte");
    CHECK_STR(header_of(&again, "Idempotent-Replayed"), STR("true"), "and says so");
    request.body = STR("{}");
    CHECK_EQ(answer(&rig, request).status, 422, "another request under the key");
    request = post(&rig, "/v1/sources/demo/trigger", body);
    request.idempotency_key = STR("k2");
    again = answer(&rig, request);
    CHECK(!str_eq(again.body, first.body), "another key is another request");
    request.idempotency_key = STR("");
    CHECK_EQ(answer(&rig, request).status, 422, "an empty key");
    rig_close(&rig);
}

/* ---- the store ---- */

TEST(a_store_out_of_reach_is_503_until_it_answers)
{
    struct web_response response;
    struct rig rig;

    rig_open(&rig, (struct access_rules){ 0 });
    fault_store_arm(rig.store, &(struct store_fault){ .effect = FAULT_OUTAGE });
    response = answer(&rig, get("/v1/tasks"));
    CHECK_EQ(response.status, 503, "reading");
    CHECK(has(response.body, "\"code\":\"store.lost\""), "why");
    CHECK(header_of(&response, "Retry-After").len > 0, "for a while");
    CHECK_EQ(answer(&rig, get("/readyz")).status, 503, "it is not ready");
    CHECK_EQ(answer(&rig, get("/healthz")).status, 200, "but lives");
    CHECK_EQ(answer(&rig, post(&rig, "/v1/sources/demo/pause", "{}")).status, 503, "changing");
    CHECK(fault_store_disarm(rig.store), "it was asked");
    CHECK_EQ(answer(&rig, get("/readyz")).status, 200, "it is back");
    CHECK_EQ(answer(&rig, get("/v1/tasks")).status, 200, "reading again");
    rig_close(&rig);
}

TEST(no_secret_is_in_an_answer)
{
    struct web_response response;
    struct web_request request;
    struct rig rig;

    rig_open(&rig, (struct access_rules){ 0 });
    request = get("/v1/status");
    request.authorization = bearer(&rig, rig.old);
    response = answer(&rig, request);
    CHECK_EQ(response.status, 401, "expired");
    CHECK(!has(response.body, rig.old + 23), "the secret of the token");
    for (size_t i = 0; i < response.header_count; i++)
        CHECK(!has(response.headers[i].value, rig.old + 23), "in a header");
    rig_close(&rig);
}

/* ---- pages ---- */

static struct str cookie_of(struct rig *rig, const struct web_response *response)
{
    struct str rest = header_of(response, "Set-Cookie");

    return arena_copy(&rig->arena, str_cut(&rest, ';'));
}

static struct web_request form(const char *target, struct str body, struct str cookie)
{
    struct web_request request = get(target);

    request.method = STR("POST");
    request.body = body;
    request.content_type = STR("application/x-www-form-urlencoded");
    request.origin = STR("http://localhost:8470");
    request.cookie = cookie;
    return request;
}

static struct str sign_in(struct rig *rig, const char *token)
{
    const struct web_response response =
        answer(rig, form("/login", arena_printf(&rig->arena, "token=%s", token), STR("")));

    REQUIRE(response.status == 303, "signed in");
    return cookie_of(rig, &response);
}

/* The key that a page of the session has in its forms. */
static struct str form_key(struct rig *rig, struct str cookie)
{
    static const char before[] = "name=\"form-key\" value=\"";
    struct web_request request = get("/");
    struct str page, key;

    request.cookie = cookie;
    page = answer(rig, request).body;
    key = str_slice(page, str_find(page, str_of(before)) + sizeof(before) - 1, page.len);
    return str_cut(&key, '"');
}

TEST(pages_take_nothing_of_others_and_run_no_inline_code)
{
    struct web_response response;
    struct web_request request;
    struct rig rig;
    struct str csp;

    rig_open(&rig, (struct access_rules){ 0 });
    (void)view_rig_harvest(rig.store);
    for (size_t i = 0; i < ROUTES_PAGES.count; i++) {
        if (strcmp(ROUTES_PAGES.routes[i].method, "GET") != 0 ||
            !route_is_page(&ROUTES_PAGES.routes[i]))
            continue;
        response = answer(&rig, get(filled(&rig, ROUTES_PAGES.routes[i].path).data));
        csp = header_of(&response, "Content-Security-Policy");
        CHECK(has(csp, "default-src 'none'"), ROUTES_PAGES.routes[i].path);
        CHECK(has(csp, "script-src 'self'") && has(csp, "frame-ancestors 'none'"),
              ROUTES_PAGES.routes[i].path);
        CHECK(!has(csp, "unsafe"), ROUTES_PAGES.routes[i].path);
        CHECK_STR(header_of(&response, "X-Content-Type-Options"), STR("nosniff"), "its type");
        CHECK_STR(header_of(&response, "X-Frame-Options"), STR("DENY"), "no frame");
        CHECK(has(header_of(&response, "Content-Type"), "text/html"), "a page, also if refused");
        CHECK(!has(response.body, " style=\"") && !has(response.body, " onclick") &&
                  !has(response.body, "<script>") && !has(response.body, "javascript:"),
              ROUTES_PAGES.routes[i].path);
        CHECK(!has(response.body, "=\"http"), "nothing of another server");
    }
    request = get("/v1/nothing");
    request.accept = STR("text/html,application/xhtml+xml");
    response = answer(&rig, request);
    CHECK(response.status == 404 && has(response.body, "<h1>"), "people get a page");
    rig_close(&rig);
}

TEST(a_browser_that_showed_a_token_operates_by_forms_with_a_key)
{
    struct web_response response;
    struct web_request request;
    struct pause_list pauses;
    struct error err = { 0 };
    struct str cookie, key;
    struct rig rig;

    rig_open(&rig, (struct access_rules){ 0 });
    response =
        answer(&rig, form("/login", arena_printf(&rig.arena, "token=%s", rig.operates), STR("")));
    CHECK_EQ(response.status, 303, "signed in");
    CHECK(has(header_of(&response, "Set-Cookie"), "; HttpOnly; SameSite=Strict"), "the cookie");
    CHECK(!has(header_of(&response, "Set-Cookie"), rig.operates + 23), "is not the token");
    cookie = cookie_of(&rig, &response);
    key = form_key(&rig, cookie);
    REQUIRE(key.len == 64, "forms have a key");
    request =
        form("/form/sources/demo/pause",
             arena_printf(&rig.arena, "form-key=%.*s&reason=%%3Cb%%3Ea+test&form-back=%%2Fgate",
                          STR_ARG(key)),
             cookie);
    response = answer(&rig, request);
    CHECK_EQ(response.status, 200, "paused");
    CHECK(has(response.body, "<dd>paused</dd>"), "the page says so");
    CHECK(has(response.body, "href=\"/gate\""), "and leads back");
    REQUIRE_OK(store_pause_list(rig.store, contract_arena(), STR("demo"), &pauses, &err), err);
    REQUIRE(pauses.count == 1, "a row");
    CHECK_STR(pauses.items[0].created_by, STR("token ops"), "who");
    request = get("/");
    request.cookie = cookie;
    response = answer(&rig, request);
    CHECK(has(response.body, "&lt;b&gt;a test") && !has(response.body, "<b>a test"), "escaped");
    request =
        form("/form/sources/demo/pause",
             arena_printf(&rig.arena, "form-key=%.*s&form-back=%%2F%%2Fevil.example", STR_ARG(key)),
             cookie);
    CHECK(!has(answer(&rig, request).body, "evil"), "no link leads to another site");
    rig_close(&rig);
}

/* Ways of not being allowed to send a form. */
enum form_way {
    FORM_NO_COOKIE,
    FORM_READER,
    FORM_NO_KEY,
    FORM_OTHER_KEY,
    FORM_OTHER_ORIGIN,
    FORM_NULL_ORIGIN,
    FORM_CROSS_SITE,
    FORM_BEARER_ONLY,
    FORM_JSON,
    FORM_TOUCHED_COOKIE,
    FORM_OLD_COOKIE,
    FORM_COOKIE_ON_API,
    FORM_WAYS
};

static struct web_request bad_form(struct rig *rig, struct str path, enum form_way way,
                                   const struct str cookies[2], const struct str keys[2])
{
    const bool is_reader = way == FORM_READER;
    struct str body = arena_printf(&rig->arena, "form-key=%.*s", STR_ARG(keys[is_reader]));
    struct web_request request;
    struct str cookie = arena_copy(&rig->arena, cookies[is_reader]);

    if (way == FORM_NO_KEY)
        body = STR("");
    else if (way == FORM_OTHER_KEY)
        body = arena_printf(&rig->arena, "form-key=%.*s", STR_ARG(keys[1]));
    else if (way == FORM_TOUCHED_COOKIE)
        ((char *)(uintptr_t)cookie.data)[cookie.len - 1] ^= 1;
    request =
        form(arena_printf(&rig->arena, "/form%.*s",
                          STR_ARG(str_slice(path, way == FORM_COOKIE_ON_API ? 0 : 3, path.len)))
                 .data,
             body, cookie);
    if (way == FORM_COOKIE_ON_API) { /* the API itself takes no cookie for a change */
        request.target = path;
        request.content_type = STR("application/json");
        request.body = STR("{}");
    } else if (way == FORM_NO_COOKIE) {
        request.cookie = (struct str){ 0 };
    } else if (way == FORM_BEARER_ONLY) {
        request.cookie = (struct str){ 0 };
        request.authorization = bearer(rig, rig->operates);
    } else if (way == FORM_OTHER_ORIGIN) {
        request.origin = STR("https://evil.example");
    } else if (way == FORM_NULL_ORIGIN) {
        request.origin = STR("null");
    } else if (way == FORM_CROSS_SITE) {
        request.fetch_site = STR("cross-site");
    } else if (way == FORM_JSON) {
        request.content_type = STR("application/json");
    }
    return request;
}

TEST(of_all_forms_in_all_wrong_ways_none_gets_through)
{
    struct str cookies[2], keys[2];
    uint64_t before;
    struct rig rig;
    int tried = 0;

    rig_open(&rig, (struct access_rules){ 0 });
    (void)view_rig_harvest(rig.store);
    cookies[0] = sign_in(&rig, rig.operates);
    cookies[1] = sign_in(&rig, rig.reads);
    keys[0] = form_key(&rig, cookies[0]);
    keys[1] = form_key(&rig, cookies[1]);
    before = contract_digest();
    for (size_t i = 0; i < ROUTES_OPERATIONS.count; i++) {
        for (int way = 0; way < FORM_WAYS; way++, tried++) {
            const struct str path = filled(&rig, ROUTES_OPERATIONS.routes[i].path);
            struct web_response response;

            virtual_clock_set(&rig.clock,
                              way == FORM_OLD_COOKIE ? NOW_US + 13 * US_PER_HOUR : NOW_US);
            response = answer(&rig, bad_form(&rig, path, (enum form_way)way, cookies, keys));
            if (response.status != 401 && response.status != 403 && response.status != 415)
                test_fail(__FILE__, __LINE__, "%.*s, way %d: %d", STR_ARG(path), way,
                          response.status);
        }
    }
    virtual_clock_set(&rig.clock, NOW_US);
    CHECK(contract_digest() == before, "nothing was changed");
    test_note("%d forms were refused", tried);
    rig_close(&rig);
}

TEST(a_session_ends_with_its_token)
{
    struct web_request request = get("/v1/status");
    struct error err = { 0 };
    struct rig rig;
    bool revoked;

    rig_open(&rig, (struct access_rules){ .needs_token = true });
    CHECK_EQ(answer(&rig, request).status, 401, "without");
    request.cookie = arena_printf(&rig.arena, "a=b; %.*s; c=d", STR_ARG(sign_in(&rig, rig.reads)));
    CHECK_EQ(answer(&rig, request).status, 200, "with a session, reading is allowed");
    virtual_clock_set(&rig.clock, NOW_US + SESSION_US);
    CHECK_EQ(answer(&rig, request).status, 401, "for half a day");
    virtual_clock_set(&rig.clock, NOW_US);
    REQUIRE_OK(store_token_revoke(rig.store,
                                  &(struct token_revocation){ STR("reader"), STR("x"), NOW_US },
                                  &revoked, &err),
               err);
    CHECK_EQ(answer(&rig, request).status, 401, "revoked");
    CHECK_EQ(answer(&rig, form("/login", STR("token=patra_wrong"), STR(""))).status, 401, "wrong");
    request = form("/login", arena_printf(&rig.arena, "token=%s", rig.operates), STR(""));
    request.origin = STR("https://evil.example");
    CHECK_EQ(answer(&rig, request).status, 403, "another site signs nobody in");
    rig_close(&rig);
}

TEST(a_link_of_another_site_shows_a_page_and_its_forms_do_nothing)
{
    struct web_request request = get("/runs");
    struct rig rig;

    rig_open(&rig, (struct access_rules){ 0 });
    request.fetch_site = STR("cross-site");
    CHECK_EQ(answer(&rig, request).status, 200, "a link");
    request.origin = STR("https://evil.example");
    CHECK_EQ(answer(&rig, request).status, 403, "a script");
    request = get("/runs");
    request.host = STR("evil.example");
    CHECK_EQ(answer(&rig, request).status, 403, "by a name that leads here");
    request = get("/runs");
    request.is_loopback = false;
    CHECK_EQ(answer(&rig, request).status, 401, "from elsewhere");
    rig_close(&rig);
}

TEST(as_many_pages_as_there_is_room_for_hear_of_changes)
{
    struct web_response responses[LIVE_CLIENTS_MAX], one;
    struct error err = { 0 };
    struct rig rig;
    struct buf out;
    bool is_end;

    rig_open(&rig, (struct access_rules){ 0 });
    for (size_t i = 0; i < ARRAY_LEN(responses); i++) {
        responses[i] = answer(&rig, get("/v1/events/changes?seen=1"));
        REQUIRE(responses[i].status == 200 && responses[i].stream != NULL, "it listens");
    }
    one = answer(&rig, get("/v1/events/changes"));
    CHECK(one.status == 503 && has(one.body, "live.full"), "no more than that");
    one = responses[0];
    buf_init(&out, &rig.arena, 1000);
    REQUIRE_OK(one.stream->more(one.stream, 0, &out, &is_end, &err), err);
    CHECK_STR(buf_str(&out), STR("retry: 5000\n\n"), "what it has seen is the state");
    buf_clear(&out);
    REQUIRE_OK(one.stream->more(one.stream, 0, &out, &is_end, &err), err);
    CHECK_EQ(out.len, 0, "nothing has changed");
    (void)view_rig_harvest(rig.store);
    REQUIRE_OK(one.stream->more(one.stream, 0, &out, &is_end, &err), err);
    CHECK_EQ(out.len, 0, "it is not looked at all the time");
    virtual_clock_advance(&rig.clock, LIVE_LOOK_US);
    REQUIRE_OK(one.stream->more(one.stream, 0, &out, &is_end, &err), err);
    CHECK_STR(buf_str(&out), STR("event: change\ndata: 2\n\n"), "a change");
    buf_clear(&out);
    virtual_clock_advance(&rig.clock, LIVE_IDLE_US);
    REQUIRE_OK(one.stream->more(one.stream, 0, &out, &is_end, &err), err);
    CHECK_STR(buf_str(&out), STR(":\n\n"), "a sign of life");
    one.stream->close(one.stream);
    one = answer(&rig, get("/v1/events/changes"));
    CHECK_EQ(one.status, 200, "who leaves makes room");
    one.stream->close(one.stream);
    for (size_t i = 1; i < ARRAY_LEN(responses); i++)
        responses[i].stream->close(responses[i].stream);
    rig_close(&rig);
}
