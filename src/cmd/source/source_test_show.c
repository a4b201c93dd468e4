/* What patra source test found, for people and for programs. */
#include <inttypes.h>

#include "base/instant.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cmd/source/source_test.h"
#include "data/json_write.h"

enum { RECORDS_SHOWN = 5, BODY_SHOWN = 2000, TOKEN_SHOWN = 60 };

static size_t shown_max(const struct source_test *test)
{
    return invocation_flag(test->invocation, "all") ? SIZE_MAX : RECORDS_SHOWN;
}

/* ---- as text ---- */

static void print_instant(FILE *out, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    (void)instant_format(at_us, text);
    fprintf(out, "%s", text);
}

static void print_title(const struct source_test *test, FILE *out)
{
    char ids[ID_RANGE_TEXT_MAX];

    fprintf(out, "%.*s %.*s, endpoint %.*s", STR_ARG(test->source.registry.code),
            STR_ARG(test->operation), STR_ARG(test->spec.endpoint.name));
    if (test->slice.dimension == SLICE_TIME) {
        fprintf(out, ", ");
        print_instant(out, test->slice.window.from_us);
        fprintf(out, " to ");
        print_instant(out, test->slice.window.to_us);
    }
    if (id_range_is_valid(test->slice.part)) {
        id_range_text(test->slice.part, ids);
        fprintf(out, ", %s", ids);
    }
    fprintf(out, "\n\n");
}

static struct str where_of(const struct spec_auth *auth)
{
    return auth->secret.len > 0          ? auth->secret
           : auth->client_secret.len > 0 ? auth->client_secret
                                         : auth->password;
}

/* Of several credentials the test sends the first. */
static void print_auth(const struct spec_endpoint *endpoint, FILE *out)
{
    const struct spec_auth *auth = &endpoint->auth;

    if (auth->type == AUTH_NONE)
        return;
    fprintf(out, "  (plus a credential: %.*s%s%.*s from %.*s%s",
            STR_ARG(code_of(&AUTH_TYPE_CODES, (int)auth->type)), auth->name.len > 0 ? " " : "",
            STR_ARG(auth->name), STR_ARG(where_of(auth)),
            auth->is_optional ? ", if it is set" : "");
    for (size_t i = 0; i < endpoint->variant_count; i++)
        fprintf(out, "%s%.*s", i == 0 ? "; in this order: " : ", ",
                STR_ARG(endpoint->variants[i].credential));
    fprintf(out, ")\n");
}

static void print_request(const struct source_test *test, const struct probe *probe, FILE *out)
{
    const struct request_shown *told = &probe->shown;
    const struct str body =
        str_slice(told->body, 0, told->body.len < BODY_SHOWN ? told->body.len : BODY_SHOWN);

    fprintf(out, "%.*s %.*s\n", STR_ARG(told->method), STR_ARG(told->url));
    for (size_t i = 0; i < told->header_count; i++)
        fprintf(out, "  %.*s: %.*s\n", STR_ARG(told->headers[i].name),
                STR_ARG(told->headers[i].value));
    print_auth(&test->spec.endpoint, out);
    if (body.len > 0)
        fprintf(out, "\n  %.*s%s\n", STR_ARG(body), body.len < told->body.len ? "..." : "");
}

static void print_next(const struct probe *probe, FILE *out)
{
    const struct page_state *next = &probe->decision.next;
    const struct str token =
        str_slice(next->token, 0, next->token.len < TOKEN_SHOWN ? next->token.len : TOKEN_SHOWN);

    if (probe->decision.step != PAGE_GO_ON) {
        fprintf(out, "next     none: %s\n", page_reason_name(probe->decision.reason));
        return;
    }
    switch (probe->rules.type) {
    case PAGINATION_OFFSET:
        fprintf(out, "next     offset %" PRId64 "\n", next->offset);
        return;
    case PAGINATION_PAGE:
        fprintf(out, "next     page %" PRId64 "\n", next->page_no);
        return;
    case PAGINATION_TIME:
        fprintf(out, "next     from ");
        print_instant(out, next->rest.from_us);
        fprintf(out, " to ");
        print_instant(out, next->rest.to_us);
        fprintf(out, "\n");
        return;
    case PAGINATION_TOKEN:
        fprintf(out, "next     token %.*s%s\n", STR_ARG(token),
                token.len < next->token.len ? "..." : "");
        return;
    case PAGINATION_URL:
        fprintf(out, "next     %.*s\n", STR_ARG(next->token));
        return;
    case PAGINATION_ID:
        fprintf(out, "next     ids above %.*s\n", STR_ARG(next->token));
        return;
    case PAGINATION_SINGLE:
        return;
    }
}

static bool print_records(const struct source_test *test, const struct probe *probe, FILE *out,
                          struct error *err)
{
    static const char *const heads[] = { "ID", "UPDATED", "VERSION", "STATE" };
    struct arena *arena = (struct arena *)&test->session.arena;
    const struct listing *listing = &probe->listing;
    const size_t most = shown_max(test);
    struct columns columns;

    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < listing->records.count && i < most; i++) {
        const struct record *record = &listing->records.items[i];

        columns_cell(&columns, record->provider_id);
        if (record->has_updated_at)
            columns_instant(&columns, record->updated_at_us);
        else
            columns_cell(&columns, STR("-"));
        columns_cell(&columns, record->version.len > 0 ? record->version : STR("-"));
        columns_cell(&columns, record->merged_into.len > 0 ? STR("merged")
                               : record->is_deleted        ? STR("deleted")
                                                           : STR("live"));
    }
    fprintf(out, "\n");
    if (!columns_print(&columns, out, err))
        return false;
    if (listing->records.count > most)
        fprintf(out, "... and %zu more (--all shows them)\n", listing->records.count - most);
    return true;
}

/* "integer", "text list", "-" where the source gives no type. */
static struct str type_text(struct arena *arena, const struct spec_field *field)
{
    const struct str word = code_of(&FIELD_TYPE_CODES, (int)field->type);
    struct buf out;

    if (field->type == FIELD_ANY)
        return STR("-");
    buf_init(&out, arena, 64);
    for (size_t i = 0; i < word.len; i++)
        buf_add_char(&out, (char)(word.data[i] - 'A' + 'a'));
    if (field->is_list)
        buf_add(&out, STR(" list"));
    return buf_str(&out);
}

static bool print_fields(const struct source_test *test, const struct probe *probe, FILE *out,
                         struct error *err)
{
    static const char *const heads[] = { "FIELD", "TYPE", "RECORDS", "DO NOT FIT", "SEVERAL" };
    struct arena *arena = (struct arena *)&test->session.arena;
    struct columns columns;

    if (probe->fields.count == 0 || probe->fields.records == 0)
        return true;
    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < probe->fields.count; i++) {
        const struct probe_field *count = &probe->fields.items[i];

        columns_cell(&columns, count->field->name);
        columns_cell(&columns, type_text(arena, count->field));
        columns_cell(&columns,
                     arena_printf(arena, "%zu of %zu", count->records, probe->fields.records));
        columns_i64(&columns, (int64_t)count->misfits);
        columns_i64(&columns, (int64_t)count->several);
    }
    fprintf(out, "\n");
    return columns_print(&columns, out, err);
}

static void print_ids(const struct listing *listing, size_t most, FILE *out)
{
    fprintf(out, "ids     ");
    for (size_t i = 0; i < listing->hash_count && i < most; i++)
        fprintf(out, " %.*s", STR_ARG(listing->ids[i]));
    fprintf(out, "%s\n", listing->hash_count > most ? " ..." : "");
}

static void print_bad(const struct listing *listing, size_t most, FILE *out)
{
    if (listing->bad.count == 0)
        return;
    fprintf(out, "\nquarantine\n");
    for (size_t i = 0; i < listing->bad.count && i < most; i++) {
        const struct record *bad = &listing->bad.items[i];

        fprintf(out, "  item %zu, %s, %s: %.*s\n", bad->position + 1,
                bad->provider_id.len > 0 ? "with an id" : "without an id", bad->reason,
                STR_ARG(bad->detail));
    }
    if (listing->bad.count > most)
        fprintf(out, "  and %zu more\n", listing->bad.count - most);
}

static bool print_page(const struct source_test *test, const struct probe *probe, FILE *out,
                       struct error *err)
{
    const struct listing *listing = &probe->listing;

    fprintf(out, "page     %zu item%s", listing->items, listing->items == 1 ? "" : "s");
    if (!probe->lists_ids)
        fprintf(out, ": %zu record%s, %zu bad", listing->records.count,
                listing->records.count == 1 ? "" : "s", listing->bad.count);
    if (listing->dropped > 0)
        fprintf(out, ", %zu left out by their dates (client_filter)", listing->dropped);
    if (listing->has_total)
        fprintf(out, "; total %" PRId64, listing->total);
    fprintf(out, "\n");
    print_next(probe, out);
    if (probe->lists_ids)
        print_ids(listing, shown_max(test), out);
    else if (listing->records.count > 0 && !print_records(test, probe, out, err))
        return false;
    if (!print_fields(test, probe, out, err))
        return false;
    print_bad(listing, shown_max(test), out);
    return true;
}

static void print_warnings(const struct source_test_result *result, FILE *out)
{
    const struct probe_warnings *warnings = &result->probe->warnings;

    if (warnings->count + result->unset_count > 0)
        fprintf(out, "\nwarnings\n");
    for (size_t i = 0; i < result->unset_count; i++)
        fprintf(out, "  %.*s is not set on this machine: no request could be sent\n",
                STR_ARG(result->unset[i].reference));
    for (size_t i = 0; i < warnings->count; i++)
        fprintf(out, "  %.*s\n", STR_ARG(warnings->items[i]));
}

/* What happens to a window with more records than the source returns. */
static void print_cut(const struct source_test *test, const struct source_test_result *result,
                      FILE *out)
{
    char ids[ID_RANGE_TEXT_MAX];

    if (result->part == NULL)
        return;
    id_range_text(result->part_ids, ids);
    fprintf(out,
            "\nA window with more than %" PRId64
            " records that is too short to be split by time is "
            "split by ids; %s:\n%.*s %.*s\n",
            test->spec.endpoint.page.cap, ids, STR_ARG(result->part->method),
            STR_ARG(result->part->url));
    if (result->part->body.len > 0)
        fprintf(out, "\n  %.*s\n", STR_ARG(result->part->body));
}

static void print_status(const struct probe *probe, FILE *out)
{
    fprintf(out, "\nresponse status %d, %zu bytes\n", probe->reply.status, probe->reply.body.len);
}

bool source_test_print(const struct source_test *test, const struct source_test_result *result,
                       struct error *err)
{
    const struct probe *probe = result->probe;
    FILE *out = test->invocation->out;

    print_title(test, out);
    print_request(test, result->page_count > 0 ? &result->pages[0] : probe, out);
    print_cut(test, result, out);
    for (size_t i = 0; i < result->page_count; i++) {
        print_status(&result->pages[i], out);
        if (!print_page(test, &result->pages[i], out, err))
            return false;
    }
    if (result->failure != NULL) {
        print_status(probe, out);
        fprintf(out, "failed   %s (%s, %s)\n", result->failure->text, result->failure->code,
                error_level_name(result->failure->level));
    }
    print_warnings(result, out);
    if (!result->is_answered)
        fprintf(
            out,
            "\nNothing was sent. --live sends the request, --fixture FILE reads a saved response, "
            "--faults tries what can go wrong.\n");
    return true;
}

/* ---- as JSON ---- */

static void write_request(struct json_writer *w, struct str name, const struct request_shown *told)
{
    json_write_name(w, name);
    json_write_object(w);
    json_write_member_str(w, STR("method"), told->method);
    json_write_member_str(w, STR("url"), told->url);
    json_write_name(w, STR("headers"));
    json_write_object(w);
    for (size_t i = 0; i < told->header_count; i++)
        json_write_member_str(w, told->headers[i].name, told->headers[i].value);
    json_write_end(w);
    if (told->body.len > 0)
        json_write_member_str(w, STR("body"), told->body);
    json_write_end(w);
}

static void write_record(struct json_writer *w, const struct record *record)
{
    json_write_object(w);
    json_write_member_str(w, STR("id"), record->provider_id);
    if (record->has_updated_at)
        json_write_member_instant(w, STR("updatedAt"), record->updated_at_us);
    if (record->version.len > 0)
        json_write_member_str(w, STR("version"), record->version);
    json_write_member_bool(w, STR("deleted"), record->is_deleted);
    if (record->merged_into.len > 0)
        json_write_member_str(w, STR("mergedInto"), record->merged_into);
    json_write_end(w);
}

static void write_lists(struct json_writer *w, const struct probe *probe, size_t most)
{
    const struct listing *listing = &probe->listing;

    json_write_name(w, STR("records"));
    json_write_array(w);
    for (size_t i = 0; i < listing->records.count && i < most; i++)
        write_record(w, &listing->records.items[i]);
    json_write_end(w);
    json_write_name(w, STR("ids"));
    json_write_array(w);
    for (size_t i = 0; probe->lists_ids && i < listing->hash_count && i < most; i++)
        json_write_str(w, listing->ids[i]);
    json_write_end(w);
    json_write_name(w, STR("quarantine"));
    json_write_array(w);
    for (size_t i = 0; i < listing->bad.count; i++) {
        json_write_object(w);
        json_write_member_i64(w, STR("position"), (int64_t)listing->bad.items[i].position);
        json_write_member_str(w, STR("id"), listing->bad.items[i].provider_id);
        json_write_member_str(w, STR("reason"), str_of(listing->bad.items[i].reason));
        json_write_member_str(w, STR("detail"), listing->bad.items[i].detail);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_fields(struct json_writer *w, const struct probe_fields *fields)
{
    json_write_name(w, STR("fields"));
    json_write_array(w);
    for (size_t i = 0; i < fields->count; i++) {
        const struct probe_field *count = &fields->items[i];

        json_write_object(w);
        json_write_member_str(w, STR("name"), count->field->name);
        json_write_member_str(w, STR("type"), code_of(&FIELD_TYPE_CODES, (int)count->field->type));
        json_write_member_bool(w, STR("list"), count->field->is_list);
        json_write_member_i64(w, STR("of"), (int64_t)fields->records);
        json_write_member_i64(w, STR("records"), (int64_t)count->records);
        json_write_member_i64(w, STR("misfits"), (int64_t)count->misfits);
        json_write_member_i64(w, STR("several"), (int64_t)count->several);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_page(struct json_writer *w, const struct probe *probe, size_t most)
{
    const struct listing *listing = &probe->listing;

    json_write_object(w);
    json_write_member_i64(w, STR("items"), (int64_t)listing->items);
    json_write_member_i64(w, STR("recordCount"), (int64_t)listing->records.count);
    json_write_member_i64(w, STR("dropped"), (int64_t)listing->dropped);
    if (listing->has_total)
        json_write_member_i64(w, STR("total"), listing->total);
    json_write_member_bool(w, STR("hasNext"), probe->decision.step == PAGE_GO_ON);
    if (listing->next.data != NULL)
        json_write_member_str(w, STR("next"), listing->next);
    json_write_member_str(w, STR("end"), str_of(page_reason_name(probe->decision.reason)));
    write_lists(w, probe, most);
    write_fields(w, &probe->fields);
    json_write_end(w);
}

/* The first one by itself, and all of them where more than one was asked for. */
static void write_pages(struct json_writer *w, const struct source_test *test,
                        const struct source_test_result *result)
{
    if (result->page_count == 0)
        return;
    json_write_name(w, STR("page"));
    write_page(w, &result->pages[0], shown_max(test));
    if (test->pages == 1)
        return;
    json_write_name(w, STR("pages"));
    json_write_array(w);
    for (size_t i = 0; i < result->page_count; i++)
        write_page(w, &result->pages[i], shown_max(test));
    json_write_end(w);
}

static void write_texts(struct json_writer *w, struct str name, const struct str *texts,
                        size_t count)
{
    json_write_name(w, name);
    json_write_array(w);
    for (size_t i = 0; i < count; i++)
        json_write_str(w, texts[i]);
    json_write_end(w);
}

static void write_unset(struct json_writer *w, const struct source_test_result *result)
{
    json_write_name(w, STR("unset"));
    json_write_array(w);
    for (size_t i = 0; i < result->unset_count; i++)
        json_write_str(w, result->unset[i].reference);
    json_write_end(w);
}

bool source_test_print_json(const struct source_test *test, const struct source_test_result *result,
                            struct error *err)
{
    const struct probe *probe = result->probe;
    struct output output;
    struct json_writer *w = output_begin(&output, (struct arena *)&test->session.arena);

    json_write_object(w);
    json_write_member_str(w, STR("source"), test->source.registry.code);
    json_write_member_str(w, STR("operation"), test->operation);
    json_write_member_str(w, STR("endpoint"), test->spec.endpoint.name);
    if (test->slice.dimension == SLICE_TIME) {
        json_write_member_instant(w, STR("from"), test->slice.window.from_us);
        json_write_member_instant(w, STR("to"), test->slice.window.to_us);
    }
    write_request(w, STR("request"),
                  result->page_count > 0 ? &result->pages[0].shown : &probe->shown);
    if (result->part != NULL)
        write_request(w, STR("partRequest"), result->part);
    if (result->is_answered) {
        json_write_member_i64(w, STR("status"), probe->reply.status);
        json_write_member_i64(w, STR("bytes"), (int64_t)probe->reply.body.len);
    }
    if (result->failure != NULL) {
        json_write_member_str(w, STR("error"), str_of(result->failure->text));
        json_write_member_str(w, STR("code"), str_of(result->failure->code));
        json_write_member_str(w, STR("level"), str_of(error_level_name(result->failure->level)));
    }
    write_pages(w, test, result);
    write_unset(w, result);
    write_texts(w, STR("warnings"), probe->warnings.items, probe->warnings.count);
    json_write_end(w);
    return output_end(&output, test->invocation->out, err);
}
