/* Judges a response: the rules of the source, its status, its body. */
#include "engine/fetch/response.h"

#include "base/quote.h"
#include "core/http_status.h"
#include "data/http_fault.h"
#include "data/media_type.h"
#include "data/url.h"
#include "engine/fetch/document_outline.h"
#include "engine/fetch/provider_text.h"
#include "engine/source/rate_key.h"

struct reading {
    const struct response_input *input;
    struct arena *arena;
    struct response *response;
    struct error fault; /* of the body; level NONE: it was read */
};

static const struct spec_response *rules_of(const struct reading *reading)
{
    return &reading->input->reader->endpoint->response;
}

static bool is_success(int status)
{
    return status >= 200 && status < 300;
}

/* The record of a lookup, and of an endpoint that has no pages, may be an object by itself. */
static bool may_be_single(const struct reading *reading)
{
    const struct spec_endpoint *endpoint = reading->input->reader->endpoint;

    return endpoint->role != ENDPOINT_SEARCH ||
           (endpoint->page.type == PAGINATION_SINGLE && !reading->input->ids_only);
}

static bool has_records(const struct reading *reading)
{
    const struct document_items *items = &reading->response->items;

    return items->count > 0 && !items->is_broken && (!items->is_single || may_be_single(reading));
}

/* ---- the body ---- */

static struct str content_type_of(const struct http_response *reply)
{
    return http_header_value(reply->headers, STR("Content-Type"));
}

/* The body was refused by its parser: cut off, broken, or beyond a limit. */
static void judge_fault(const struct reading *reading, struct error *fault)
{
    const struct http_response *reply = reading->input->reply;
    struct error charset;

    if (arena_error_is_limit(fault))
        return;
    if (json_error_is_limit(fault) || xml_error_is_limit(fault)) {
        fault->code = "answer.limit";
        return;
    }
    if (!body_charset_check(content_type_of(reply), reply->body, &charset)) {
        *fault = charset;
        return;
    }
    fault->level = ERROR_TRANSIENT; /* a server under load; a retry may bring the whole body */
    fault->code = "answer.syntax";
}

static bool open_document(struct reading *reading, struct error *err)
{
    const struct reader *reader = reading->input->reader;
    const struct http_response *reply = reading->input->reply;
    const enum response_format format = rules_of(reading)->format;
    struct response *response = reading->response;
    struct media_type media;

    if (!body_check(content_type_of(reply), reply->body,
                    format == RESPONSE_JSON ? BODY_JSON : BODY_XML, err))
        return false;
    (void)media_type_parse(content_type_of(reply), &media);
    response->is_open = document_open(
        &response->document, reading->arena,
        &(struct document_source){
            .format = format, .xml = reader->xml, .body = reply->body, .charset = media.charset },
        err);
    if (!response->is_open) {
        judge_fault(reading, err);
        return false;
    }
    return document_items(
        &response->document,
        &(struct document_list){ &reader->items, &reader->container,
                                 .is_lookup = reader->endpoint->role != ENDPOINT_SEARCH },
        reading->arena, &response->items, err);
}

static void read_body(struct reading *reading)
{
    reading->fault.level = ERROR_NONE;
    if (!open_document(reading, &reading->fault))
        reading->response->items = (struct document_items){ 0 };
}

/* ---- rules ---- */

static bool has_status(const struct spec_rule *rule, int status)
{
    if (rule->status_count == 0)
        return true;
    for (size_t i = 0; i < rule->status_count; i++) {
        if (rule->statuses[i] == status)
            return true;
    }
    return false;
}

static bool text_fits(const struct spec_rule *rule, struct str text)
{
    if (rule->has_equals)
        return str_eq(text, rule->equals);
    return rule->contains.len == 0 || str_find(text, rule->contains) < text.len;
}

static bool header_fits(const struct spec_rule *rule, struct http_headers headers)
{
    const struct http_header *header = NULL;

    while ((header = http_header_find(headers, rule->header, header)) != NULL) {
        if (text_fits(rule, header->value))
            return true;
    }
    return false;
}

static struct document_place root_of(const struct reading *reading)
{
    const struct document *document = &reading->response->document;

    return (struct document_place){ document, document_root(document), reading->arena };
}

static bool path_fits(const struct reading *reading, const struct spec_rule *rule,
                      const struct document_path *path, bool *fits, struct error *err)
{
    const struct document_place root = root_of(reading);
    struct str text;

    if (!document_is_there(&root, path, fits, err))
        return false;
    if (!*fits || (!rule->has_equals && rule->contains.len == 0))
        return true;
    if (!document_text(&root, path, &text, err))
        return false;
    *fits = text.data != NULL && text_fits(rule, text);
    return true;
}

/* 429, 401 and 407 need no rule. A rule for errors in general (`path: $.error`) was not written for
 * them: it would hide from the gate that we are too fast, and from people that the key is bad. */
static bool is_plain_status(const struct spec_rule *rule, int status)
{
    return rule->meaning == RULE_ERROR && rule->status_count == 0 &&
           (status == 429 || http_status_level(status, NULL, 0) == ERROR_FATAL);
}

static bool rule_applies(const struct reading *reading, size_t index, bool *applies,
                         struct error *err)
{
    const struct spec_rule *rule = &rules_of(reading)->error_when.items[index];
    const struct http_response *reply = reading->input->reply;
    const struct response *response = reading->response;

    *applies = false;
    if (!has_status(rule, reply->status) || is_plain_status(rule, reply->status))
        return true;
    if (rule->path.text.len > 0)
        return !response->is_open ||
               path_fits(reading, rule, &reading->input->reader->errors[index], applies, err);
    if (rule->header.len > 0)
        *applies = header_fits(rule, reply->headers);
    else if (rule->contains.len > 0)
        *applies =
            !(is_success(reply->status) && has_records(reading)) && text_fits(rule, reply->body);
    else
        *applies = true; /* the status was the condition */
    return true;
}

/* The source's own words; after an access that was refused none, because they may repeat what was
 * sent. */
static struct str words_of(const struct reading *reading, const struct document_path *path,
                           struct str header)
{
    const struct http_response *reply = reading->input->reply;
    const struct response *response = reading->response;

    if (reply->status == 401 || reply->status == 403 || reply->status == 407)
        return STR("");
    return provider_text(
        &(struct provider_text_place){ .document = response->is_open ? &response->document : NULL,
                                       .path = path,
                                       .header = header,
                                       .body = reply->body },
        reading->arena);
}

static struct str words_of_rule(const struct reading *reading, size_t index)
{
    const struct spec_rule *rule = &rules_of(reading)->error_when.items[index];
    const struct document_path *path =
        rule->path.text.len > 0 ? &reading->input->reader->errors[index] : NULL;
    const struct str header = rule->header.len > 0
                                  ? http_header_value(reading->input->reply->headers, rule->header)
                                  : (struct str){ NULL, 0 };

    return words_of(reading, path, header);
}

/* A rule that applies decides. True: it says that nothing is wrong. */
static bool obey_rule(const struct reading *reading, size_t index, struct error *err)
{
    static const struct {
        enum response_kind kind;
        enum error_level level;
        const char *code;
        const char *text;
    } meanings[] = {
        [RULE_ERROR] = { RESPONSE_ERROR, ERROR_NONE, "answer.rule", "an error" },
        [RULE_THROTTLED] = { RESPONSE_THROTTLED, ERROR_TRANSIENT, "answer.throttled", "too fast" },
        [RULE_QUOTA] = { RESPONSE_QUOTA, ERROR_TRANSIENT, "answer.quota", "the quota is used up" },
        [RULE_EXPIRED] = { RESPONSE_EXPIRED, ERROR_TRANSIENT, "answer.expired",
                           "the token or search has expired" },
        [RULE_TOO_DEEP] = { RESPONSE_TOO_DEEP, ERROR_REQUEST, "answer.too_deep",
                            "beyond what the source hands out" },
        [RULE_EMPTY] = { RESPONSE_EMPTY, ERROR_NONE, NULL, NULL },
    };

    const struct spec_rule *rule = &rules_of(reading)->error_when.items[index];
    struct str words;

    reading->response->rule = rule;
    reading->response->kind = meanings[rule->meaning].kind;
    if (rule->meaning == RULE_EMPTY)
        return true;
    words = words_of_rule(reading, index);
    return error_set(err, rule->meaning == RULE_ERROR ? rule->level : meanings[rule->meaning].level,
                     meanings[rule->meaning].code, "status %d: %s, by the rule%s%.*s%s%.*s",
                     reading->input->reply->status, meanings[rule->meaning].text,
                     rule->code.len > 0 ? " " : "", STR_ARG(rule->code), words.len > 0 ? ": " : "",
                     STR_ARG(words));
}

/* *is_decided: a rule applied. */
static bool apply_error_rules(const struct reading *reading, bool *is_decided, struct error *err)
{
    const struct spec_rule_list *rules = &rules_of(reading)->error_when;

    for (size_t i = 0; i < rules->count; i++) {
        if (!rule_applies(reading, i, is_decided, err))
            return false;
        if (*is_decided)
            return obey_rule(reading, i, err);
    }
    *is_decided = false;
    return true;
}

/* Whether what is at the path is of the kind that the rule expects. A list that a path leads to is
 * the list itself, not its elements. */
static bool kind_fits(const struct reading *reading, enum value_kind expected,
                      const struct document_path *path, bool *fits, struct error *err)
{
    static const enum json_type types[] = { [VALUE_ARRAY] = JSON_ARRAY,
                                            [VALUE_OBJECT] = JSON_OBJECT,
                                            [VALUE_TEXT] = JSON_STRING,
                                            [VALUE_NUMBER] = JSON_NUMBER,
                                            [VALUE_BOOLEAN] = JSON_BOOL };
    const struct document_place root = root_of(reading);
    enum document_kind kind;
    struct json_node node;

    if (expected == VALUE_PRESENT) {
        if (!document_kind(&root, path, &kind, err))
            return false;
        *fits = kind != DOCUMENT_NOTHING;
        return true;
    }
    if (!document_node(&root, path, &node, err))
        return false;
    *fits = json_type(&root.document->json, node) == types[expected];
    return true;
}

static const char *kind_words(enum value_kind kind)
{
    static const char *const words[] = { [VALUE_ANY] = "",
                                         [VALUE_PRESENT] = "",
                                         [VALUE_ARRAY] = ", which is a list",
                                         [VALUE_OBJECT] = ", which is an object",
                                         [VALUE_TEXT] = ", which is a text",
                                         [VALUE_NUMBER] = ", which is a number",
                                         [VALUE_BOOLEAN] = ", which is true or false" };

    return words[kind];
}

static bool success_rule_fits(const struct reading *reading, size_t index, bool *fits,
                              struct error *err)
{
    const struct spec_rule *rule = &rules_of(reading)->success_when.items[index];
    const struct document_path *path = &reading->input->reader->success[index];

    *fits = true;
    if (rule->type != VALUE_ANY && !kind_fits(reading, rule->type, path, fits, err))
        return false;
    if (!*fits || (rule->type != VALUE_ANY && !rule->has_equals))
        return true;
    return path_fits(reading, rule, path, fits, err);
}

static bool apply_success_rules(const struct reading *reading, struct error *err)
{
    const struct spec_rule_list *rules = &rules_of(reading)->success_when;
    bool fits;

    for (size_t i = 0; i < rules->count; i++) {
        const struct spec_rule *rule = &rules->items[i];

        if (!success_rule_fits(reading, i, &fits, err))
            return false;
        if (fits)
            continue;
        reading->response->rule = rule;
        return error_set(err, rule->level, "answer.rule",
                         "status %d: a good response has %.*s%s%s%s, this one says %.*s",
                         reading->input->reply->status, STR_ARG(rule->path.text),
                         kind_words(rule->type), rule->has_equals ? " with the value " : "",
                         rule->has_equals ? QUOTE(rule->equals) : "",
                         STR_ARG(words_of(reading, NULL, (struct str){ NULL, 0 })));
    }
    return true;
}

/* ---- the status ---- */

/* A redirect that was not followed. Only its origin is shown: the rest may hold a key. */
static bool refuse_redirect(const struct http_response *reply, enum error_level level,
                            struct error *err)
{
    const struct str location = http_header_value(reply->headers, STR("Location"));
    struct error ignored; /* a path on the same host */
    struct url url;

    if (!url_parse(location, &url, &ignored))
        return error_set(err, level, "answer.status",
                         "status %d: redirects within the host; set http.redirects to follow it",
                         reply->status);
    return error_set(
        err, level, "answer.status",
        "status %d: redirects to %.*s://%.*s:%d; set http.redirects to follow redirects "
        "within the host, or http.base_url for another host",
        reply->status, STR_ARG(url.scheme), STR_ARG(url.host), url.port);
}

/* The body is not quoted: it may repeat what was sent. The credential is named by its reference. */
static bool refuse_access(const struct http_response *reply, const struct spec_auth *auth,
                          enum error_level level, struct error *err)
{
    const struct str credential = credential_of(auth);

    if (reply->status == 407)
        return error_set(err, level, "answer.status",
                         "status 407: the proxy refuses access, see http.proxy");
    if (credential.len == 0)
        return error_set(err, level, "answer.status",
                         "status %d: access is refused, and nothing was there to show: auth says "
                         "none",
                         reply->status);
    return error_set(err, level, "answer.status",
                     "status %d: access is refused with the credential %.*s", reply->status,
                     STR_ARG(credential));
}

static bool judge_status(const struct reading *reading, struct error *err)
{
    const struct http_response *reply = reading->input->reply;
    const struct spec_endpoint *endpoint = reading->input->reader->endpoint;
    const struct spec_endpoint *access = reading->input->access;
    const struct str type = content_type_of(reply);
    enum error_level level =
        http_status_level(reply->status, endpoint->retry.statuses, endpoint->retry.status_count);

    if (reply->status == 202) /* a list that is still being made may be there, and empty */
        return error_set(err, ERROR_TRANSIENT, "answer.status",
                         "status 202: the response is not ready yet");
    if (is_success(reply->status))
        return true;
    if (reply->status == 429) {
        const bool is_quota = endpoint->rate.meaning_429 == MEANING_429_QUOTA;

        reading->response->kind = is_quota ? RESPONSE_QUOTA : RESPONSE_THROTTLED;
        return error_set(err, ERROR_TRANSIENT, is_quota ? "answer.quota" : "answer.throttled",
                         "status 429");
    }
    if (level == ERROR_NONE)
        level = ERROR_REQUEST; /* 304, which was not requested */
    if (http_header_value(reply->headers, STR("Location")).len > 0 && reply->status < 400)
        return refuse_redirect(reply, level, err);
    if (reply->status == 401 || reply->status == 403 || reply->status == 407)
        return refuse_access(reply, access != NULL ? &access->auth : &endpoint->auth, level, err);
    return error_set(err, level, "answer.status", "status %d, %.*s: %.*s", reply->status,
                     type.data != NULL ? (int)type.len : 7,
                     type.data != NULL ? type.data : "no type",
                     STR_ARG(words_of(reading, NULL, (struct str){ NULL, 0 })));
}

/* ---- the list ---- */

/* What the author of the source can do about a list that is not found. */
static const char *hint_of(const struct reading *reading)
{
    const struct reader *reader = reading->input->reader;

    if (rules_of(reading)->format == RESPONSE_XML && document_has_path(&reader->container))
        return "; see response.namespaces if it has a namespace";
    if (rules_of(reading)->format == RESPONSE_XML || jsonpath_is_deep(reader->items.json))
        return "; write the whole path in response.items, so that an empty list can be recognised";
    return "";
}

static bool refuse_items(const struct reading *reading, struct error *err)
{
    const struct response *response = reading->response;
    const struct str path = rules_of(reading)->items.text;
    const struct str outline = document_outline(&response->document, reading->arena);

    if (response->items.is_there || response->items.is_broken)
        return error_set(err, ERROR_TRANSIENT, "answer.items",
                         "%.*s in the response is not a list: %s; %.*s", STR_ARG(path),
                         QUOTE(document_raw(&response->document, response->items.is_broken
                                                                     ? response->items.wrong
                                                                     : response->items.items[0])),
                         STR_ARG(outline));
    if (response->items.count > 0)
        return error_set(err, ERROR_TRANSIENT, "answer.items",
                         "%.*s is in a part of the response only: %.*s; if the source may leave it "
                         "out, write response.may_be_absent: [items]",
                         STR_ARG(path), STR_ARG(outline));
    return error_set(
        err, ERROR_TRANSIENT, "answer.items", "%.*s in the response: %.*s%s",
        STR_ARG(document_outline_lack(&response->document, &reading->input->reader->items, path,
                                      reading->arena)),
        STR_ARG(outline), hint_of(reading));
}

/* A missing list may mean that there is nothing to list: then the total is 0, or the source says
 * that it may be absent. */
static bool check_items(const struct reading *reading, struct error *err)
{
    const struct reader *reader = reading->input->reader;
    const struct document_items *items = &reading->response->items;
    const struct document_place root = root_of(reading);
    struct str total = { NULL, 0 };

    if (items->is_broken || (items->is_single && !may_be_single(reading)))
        return refuse_items(reading, err);
    if (items->is_there || rules_of(reading)->may_be_absent[RESPONSE_PART_ITEMS])
        return true;
    if (rules_of(reading)->total_header.len > 0)
        total = str_trim(
            http_header_value(reading->input->reply->headers, rules_of(reading)->total_header));
    else if (document_has_path(&reader->total) &&
             !document_text(&root, &reader->total, &total, err))
        return false;
    return str_eq(total, STR("0")) || refuse_items(reading, err);
}

/* ---- the whole ---- */

static bool judge(struct reading *reading, struct error *err)
{
    const int status = reading->input->reply->status;
    struct response *response = reading->response;
    bool is_decided;

    read_body(reading);
    response->kind = RESPONSE_ERROR;
    if (!apply_error_rules(reading, &is_decided, err))
        return false;
    if (is_decided) /* without an error: by a rule that means EMPTY */
        return true;
    if (reading->input->is_of_parent && (status == 404 || status == 410)) {
        response->kind = RESPONSE_EMPTY;
        return true;
    }
    if (!judge_status(reading, err))
        return false;
    if (reading->fault.level != ERROR_NONE) {
        *err = reading->fault;
        if (response_kind_of_failure(err) == RESPONSE_OVERSIZED)
            response->kind = RESPONSE_OVERSIZED;
        return false;
    }
    if (!apply_success_rules(reading, err) || !check_items(reading, err))
        return false;
    response->kind = RESPONSE_PAGE;
    return true;
}

bool response_read(struct response *response, struct arena *arena,
                   const struct response_input *input, struct error *err)
{
    struct reading reading = { .input = input, .arena = arena, .response = response };
    bool ok;

    *response = (struct response){ 0 };
    ok = judge(&reading, err);
    response->hints = rate_hints_of(
        input->reply, response->kind == RESPONSE_THROTTLED || response->kind == RESPONSE_QUOTA,
        input->now_us);
    if (response->kind == RESPONSE_EMPTY)
        response->items = (struct document_items){ 0 };
    return ok;
}

void response_close(struct response *response)
{
    if (response->is_open)
        document_close(&response->document);
    response->is_open = false;
}

enum response_kind response_kind_of_failure(const struct error *err)
{
    return http_error_is_oversized(err) ? RESPONSE_OVERSIZED : RESPONSE_ERROR;
}
