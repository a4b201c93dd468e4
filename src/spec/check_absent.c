/* Checks of response.may_be_absent, and of how a walk learns that a page is the last. */
#include "core/source_codes.h"
#include "data/json.h"
#include "data/xml_container.h"
#include "spec/check_context.h"

static bool may_be_absent(const struct check *check, enum response_part part)
{
    const struct str list = resolution_text(&check->in, "response.may_be_absent");
    struct json_doc doc;
    struct json_iter it;
    struct error err;
    struct str word;

    if (!json_parse(&doc, check->arena, list, &err))
        return false;
    for (it = json_each(&doc, json_root(&doc)); json_next(&it);) {
        if (json_string(&doc, it.value, check->arena, &word, &err) &&
            code_find(&RESPONSE_PART_CODES, word) == (int)part)
            return true;
    }
    return false;
}

static void check_absent_is_declared(const struct check *check, bool has_next)
{
    const struct {
        enum response_part part;
        bool is_declared;
        const char *name;
        const char *paths;
    } parts[] = {
        { RESPONSE_PART_TOTAL, !check_lacks_total(check), "total",
          "response.total or response.total_header" },
        { RESPONSE_PART_HAS_MORE, !check_is_missing(check, "response.has_more"), "has_more",
          "response.has_more" },
        { RESPONSE_PART_NEXT, has_next, "next", "page.next or page.next_header" },
        { RESPONSE_PART_UPDATED_AT, !check_is_missing(check, "response.updated_at"), "updated_at",
          "response.updated_at" },
    };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i].is_declared || !may_be_absent(check, parts[i].part) ||
            resolution_get(&check->in, "response.may_be_absent")->value.is_template)
            continue;
        check_error(check, "spec.idle", "response.may_be_absent", "has %s without %s",
                    parts[i].name, parts[i].paths);
        check_hint(check, "remove %s", parts[i].name);
    }
}

/* How the walk learns that a page is the last. */
static void check_last_page(const struct check *check)
{
    if (!check_lacks_total(check) || !check_is_missing(check, "response.has_more"))
        return;
    if (may_be_absent(check, RESPONSE_PART_NEXT)) {
        check_warn(check, "spec.response.lost-next", "response.may_be_absent",
                   "has next, and there is neither total nor has_more: a full last page looks "
                   "like one that lost its next");
        fault_lacks(check->faults, FAULT_LACKS_LAST_PAGE);
        check_hint(check, "write the path of the number of matches, if the response has it");
    } else if (check_is_set(check, "page.next_header")) {
        check_warn(check, "spec.response.header-next", "page.next_header",
                   "must be in every response, the last one included");
        check_hint(check, "if the last page has no such header, write "
                          "response.may_be_absent: [next]");
    }
}

/* Where an empty list would be. */
static void check_place_of_items(const struct check *check)
{
    const struct resolved *items = resolution_get(&check->in, "response.items");
    struct xml_container container = { 0 };
    struct error err;

    if (!items->value.is_set || check->role != ENDPOINT_SEARCH)
        return;
    if (check->format == RESPONSE_XML &&
        !xml_container(check->arena, items->value.text, &container, &err)) {
        check->faults->failed = true;
        return;
    }
    if (check->format == RESPONSE_XML
            ? container.path.len > 0
            : str_find(items->value.text, STR("..")) == items->value.text.len)
        return;
    check_warn(
        check, "spec.response.items-anywhere", "response.items",
        "does not say where the list is: a page without items looks like a response of another "
        "shape, and is an error");
    check_hint(check, "write the whole path, such as %s",
               check->format == RESPONSE_XML ? "/response/records/record" : "$.data.items");
}

void check_absent(struct check *check)
{
    const bool has_next =
        check->page_type == PAGINATION_TOKEN || check->page_type == PAGINATION_URL;

    check_absent_is_declared(check, has_next);
    check_place_of_items(check);
    if (has_next && check->role == ENDPOINT_SEARCH)
        check_last_page(check);
}
