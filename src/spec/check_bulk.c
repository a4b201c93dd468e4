/* Checks of files of records: where they are, whose records they have, and what a file cannot use.
 */
#include "data/json.h"
#include "spec/check_context.h"
#include "spec/file_names.h"

static void check_elsewhere(const struct check *check)
{
    (void)check_idle(check, "files", "role", "is for endpoints of role bulk only");
    (void)check_idle(check, "records_of", "role", "is for endpoints of role bulk only");
    if (check->is_unclear || !check_uses(check, TEMPLATE_SLICE, "file"))
        return;
    check_error(check, "spec.bulk.file", "path", "uses slice.file, which only role bulk has");
    check_hint(check, "remove it, or set role: bulk");
}

static void check_file(const struct check *check, struct str name)
{
    const struct resolved *files = resolution_get(&check->in, "files");
    const struct check_place place = { files->row, "files", 0 };

    if (!file_name_is_empty(name))
        return;
    check_row_error(check, "spec.bulk.file", place, "has a range that ends before it begins: %.*s",
                    STR_ARG(name));
    check_hint(check, "write the smaller number first: {0001..1274}");
}

static void check_files(const struct check *check)
{
    const struct resolved *files = resolution_get(&check->in, "files");
    const bool uses_file = check_uses(check, TEMPLATE_SLICE, "file");
    struct json_doc doc;
    struct json_iter it;
    struct error err;
    struct str name;

    if (!check->is_unclear && uses_file != files->value.is_set) {
        check_error(check, "spec.bulk.file", files->value.is_set ? "files" : "path",
                    files->value.is_set ? "is set, and no template sends ${slice.file}"
                                        : "uses slice.file, and there are no files");
        check_hint(check, "write path: /folder/${slice.file} and files: [names]; neither where "
                          "there is one file");
    }
    if (!files->value.is_set || files->value.is_template ||
        !json_parse(&doc, check->arena, files->value.text, &err))
        return;
    for (it = json_each(&doc, json_root(&doc)); json_next(&it);) {
        if (json_string(&doc, it.value, check->arena, &name, &err))
            check_file(check, name);
    }
    if (json_count(&doc, json_root(&doc)) > 0)
        return;
    check_error(check, "spec.bulk.file", "files", "is empty");
    check_hint(check, "write the names of the files, or remove it");
}

static void check_home(const struct check *check)
{
    const struct str home = resolution_text(&check->in, "records_of");
    const struct registry_row *row = source_row(check->source, REGISTRY_ENDPOINT, home, STR(""));

    if (home.len == 0)
        return;
    if (row == NULL) {
        check_error(check, "spec.bulk.records-of", "records_of",
                    "is %.*s, which is not an endpoint", STR_ARG(home));
        check_hint(check, "write one of the names under endpoints");
    } else if (row_text(row, "role").len > 0 &&
               !str_eq(row_text(row, "role"), code_of(&ENDPOINT_ROLE_CODES, ENDPOINT_SEARCH))) {
        check_error(check, "spec.bulk.records-of", "records_of",
                    "is %.*s, whose role is not search", STR_ARG(home));
        check_hint(check, "write the endpoint that lists these records");
    }
}

static void check_unused(const struct check *check)
{
    static const char *const paths[] = {
        "response.total",         "response.total_header", "response.has_more",
        "response.may_be_absent", "response.sequence",     "response.latest",
        "response.sync_token",    "details.endpoint",
    };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (check_is_own(check, paths[i]))
            (void)check_idle(check, paths[i], "role", "has no effect: a file has no pages");
    }
    if (check->format == RESPONSE_JSON && check_is_own(check, "response.items"))
        (void)check_idle(check, "response.items", "role",
                         "has no effect: each line of the file is a record");
    if (check->method != HTTP_GET && check->method >= 0) {
        check_error(check, "spec.bulk.method", "method", "must be get: files are downloaded");
        check_hint(check, "remove it");
    }
}

void check_bulk(const struct check *check)
{
    if (check->role < 0)
        return;
    if (check->role != ENDPOINT_BULK) {
        check_elsewhere(check);
        return;
    }
    check_files(check);
    check_home(check);
    check_unused(check);
}

void check_bulk_operation(const struct check *check)
{
    static const char *const paths[] = { "budget.requests", "budget.records", "budget.time" };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        (void)check_idle(check, paths[i], "endpoint", "has no effect: a file is read whole");
}
