/* Parses one rule, and decides whether its fault is due. */
#include "sim/fault/fault_rule.h"

#include <stddef.h>

#include "base/instant.h"
#include "sim/util/hash.h"
#include "sim/util/key_values.h"
#include "sim/util/time_option.h"

/* ---- kinds ---- */

static const struct {
    const char *name;
    enum fault_kind kind;
    enum content_fault content_fault;
} kinds[] = {
    { "", FAULT_NONE, CONTENT_FAULT_NONE },
    { "status", FAULT_STATUS, CONTENT_FAULT_NONE },
    { "html", FAULT_HTML, CONTENT_FAULT_NONE },
    { "empty", FAULT_EMPTY, CONTENT_FAULT_NONE },
    { "garbage", FAULT_GARBAGE, CONTENT_FAULT_NONE },
    { "redirect", FAULT_REDIRECT, CONTENT_FAULT_NONE },
    { "charset", FAULT_CHARSET, CONTENT_FAULT_NONE },
    { "reshape", FAULT_RESHAPE, CONTENT_FAULT_NONE },
    { "reset", FAULT_RESET, CONTENT_FAULT_NONE },
    { "close", FAULT_CLOSE, CONTENT_FAULT_NONE },
    { "drip", FAULT_DRIP, CONTENT_FAULT_NONE },
    { "stall", FAULT_STALL, CONTENT_FAULT_NONE },
    { "truncate", FAULT_TRUNCATE, CONTENT_FAULT_NONE },
    { "length", FAULT_LENGTH, CONTENT_FAULT_NONE },
    { "oversize", FAULT_OVERSIZE, CONTENT_FAULT_NONE },
    { "bomb", FAULT_BOMB, CONTENT_FAULT_NONE },
    { "repeat_page", FAULT_CONTENT, CONTENT_FAULT_REPEAT_PAGE },
    { "shift_page", FAULT_CONTENT, CONTENT_FAULT_SHIFT_PAGE },
    { "repeat_token", FAULT_CONTENT, CONTENT_FAULT_REPEAT_TOKEN },
    { "expired_token", FAULT_CONTENT, CONTENT_FAULT_EXPIRED_TOKEN },
    { "moving_total", FAULT_CONTENT, CONTENT_FAULT_MOVING_TOTAL },
    { "next_elsewhere", FAULT_CONTENT, CONTENT_FAULT_NEXT_ELSEWHERE },
    { "record_no_id", FAULT_CONTENT, CONTENT_FAULT_RECORD_NO_ID },
    { "record_no_date", FAULT_CONTENT, CONTENT_FAULT_RECORD_NO_DATE },
    { "record_bad_date", FAULT_CONTENT, CONTENT_FAULT_RECORD_BAD_DATE },
    { "empty_page", FAULT_CONTENT, CONTENT_FAULT_EMPTY_PAGE },
    { "body_error", FAULT_CONTENT, CONTENT_FAULT_BODY_ERROR },
    { "missing_details", FAULT_CONTENT, CONTENT_FAULT_MISSING_DETAILS },
};

const char *fault_name(const struct fault *fault)
{
    return kinds[fault->name].name;
}

static bool parse_kind(struct fault *fault, struct str word)
{
    for (size_t i = 1; i < ARRAY_LEN(kinds); i++) {
        if (str_eq(word, str_of(kinds[i].name))) {
            fault->name = (int)i;
            fault->kind = kinds[i].kind;
            fault->content_fault = kinds[i].content_fault;
            return true;
        }
    }
    return false;
}

/* ---- parsing a line ---- */

enum word_type {
    WORD_STR,
    WORD_I64,
    WORD_CHOICE,
    WORD_TIME,
    WORD_RATE,
    WORD_NTH,
    WORD_RETRY,
    WORD_KIND,
    WORD_FLAG
};

static const char *const HOSTS[] = { "any", "main", "other", NULL };
static const char *const BYS[] = { "ordinal", "request", NULL };
static const char *const BODIES[] = { "json", "html", "text", "empty", NULL };
static const char *const ATS[] = { "before", "reply", "mid", NULL };
static const char *const LENGTHS[] = { "right", "short", "none", "chunked", NULL };
static const char *const SHAPES[] = { "object",  "null",    "nothing", "text",
                                      "wrapped", "altered", NULL };
static const char *const CHARSETS[] = { "latin1", "utf16", NULL };

#define RULE(member) offsetof(struct fault_rule, member)
#define FAULT(member) offsetof(struct fault_rule, fault.member)

static const struct word {
    const char *name;
    enum word_type type;
    size_t offset;
    int64_t min, max;
    const char *const *choices;
} words[] = {
    { "path", WORD_STR, RULE(path), 0, 0, NULL },
    { "method", WORD_STR, RULE(method), 0, 0, NULL },
    { "query", WORD_STR, RULE(query), 0, 0, NULL },
    { "ids", WORD_STR, RULE(ids), 0, 0, NULL },
    { "host", WORD_CHOICE, RULE(host), 0, 0, HOSTS },
    { "nth", WORD_NTH, RULE(nth), 0, 0, NULL },
    { "every", WORD_I64, RULE(every), 1, INT64_MAX, NULL },
    { "from", WORD_I64, RULE(from), 1, INT64_MAX, NULL },
    { "to", WORD_I64, RULE(to), 1, INT64_MAX, NULL },
    { "rate", WORD_RATE, RULE(rate), 0, 1, NULL },
    { "after", WORD_TIME, RULE(after_us), 0, 0, NULL },
    { "until", WORD_TIME, RULE(until_us), 0, 0, NULL },
    { "times", WORD_I64, RULE(times), 1, INT64_MAX, NULL },
    { "burst", WORD_I64, RULE(burst), 1, 10000, NULL },
    { "by", WORD_CHOICE, RULE(by_request), 0, 0, BYS },
    { "kind", WORD_KIND, 0, 0, 0, NULL },
    { "code", WORD_I64, FAULT(code), 200, 599, NULL },
    { "retry_after", WORD_RETRY, FAULT(retry_us), 0, 0, NULL },
    { "body", WORD_CHOICE, FAULT(body), 0, 0, BODIES },
    { "at", WORD_CHOICE, FAULT(at), 0, 0, ATS },
    { "length", WORD_CHOICE, FAULT(length), 0, 0, LENGTHS },
    { "charset", WORD_CHOICE, FAULT(charset), 0, 0, CHARSETS },
    { "keep", WORD_I64, FAULT(keep), 0, 100, NULL },
    { "delta", WORD_I64, FAULT(delta), -(INT64_C(1) << 40), INT64_C(1) << 40, NULL },
    { "ms", WORD_I64, FAULT(ms), 0, INT64_C(86400000), NULL },
    { "bps", WORD_I64, FAULT(bps), 1, 1 << 30, NULL },
    { "bytes", WORD_I64, FAULT(bytes), 0, 64 << 20, NULL },
    { "mb", WORD_I64, FAULT(mb), 1, 1 << 20, NULL },
    { "keep_type", WORD_FLAG, FAULT(keep_type), 0, 0, NULL },
    { "message", WORD_STR, FAULT(message), 0, 0, NULL },
    { "member", WORD_STR, FAULT(member), 0, 0, NULL },
    { "as", WORD_CHOICE, FAULT(as), 0, 0, SHAPES },
    { "location", WORD_STR, FAULT(location), 0, 0, NULL },
};

static bool parse_nth(struct fault_rule *rule, struct str list)
{
    while (list.len > 0) {
        const struct str item = str_cut(&list, ',');

        if (rule->nth_count == FAULT_NTH_MAX || !str_to_i64(item, &rule->nth[rule->nth_count]) ||
            rule->nth[rule->nth_count] < 1)
            return false;
        rule->nth_count++;
    }
    return rule->nth_count > 0;
}

/* "30" seconds, "0", "date+30" as an HTTP date, "past" an HTTP date an hour ago, "none". */
static bool parse_retry(struct fault *fault, struct str word)
{
    if (str_eq(word, STR("none"))) {
        fault->retry = RETRY_NONE;
        return true;
    }
    if (str_eq(word, STR("past"))) {
        fault->retry = RETRY_DATE;
        fault->retry_us = -US_PER_HOUR;
        return true;
    }
    fault->retry = RETRY_SECONDS;
    if (str_starts(word, STR("date"))) {
        fault->retry = RETRY_DATE;
        word = str_slice(word, 4, word.len);
    }
    return duration_option_parse(word, &fault->retry_us) &&
           (fault->retry == RETRY_DATE || fault->retry_us >= 0);
}

static bool parse_word(struct fault_rule *rule, const struct word *word, struct str value)
{
    void *place = (char *)rule + word->offset;
    int choice;

    switch (word->type) {
    case WORD_STR:
        *(struct str *)place = value;
        return value.len > 0;
    case WORD_I64:
        return str_to_i64(value, place) && *(int64_t *)place >= word->min &&
               *(int64_t *)place <= word->max;
    case WORD_CHOICE:
        choice = key_values_choice(value, word->choices);
        *(int *)place = choice;
        return choice >= 0;
    case WORD_TIME:
        return time_option_parse(value, place);
    case WORD_RATE:
        return key_values_number(value, place) && *(double *)place <= 1;
    case WORD_NTH:
        return parse_nth(rule, value);
    case WORD_RETRY:
        return parse_retry(&rule->fault, value);
    case WORD_KIND:
        return parse_kind(&rule->fault, value);
    case WORD_FLAG:
        *(bool *)place = true;
        return value.len == 0 || str_eq(value, STR("1"));
    }
    return false;
}

static const struct word *find_word(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_eq(name, str_of(words[i].name)))
            return &words[i];
    }
    return NULL;
}

bool fault_rule_parse(struct fault_rule *rule, struct str text, struct error *err)
{
    struct str rest = text;
    struct key_value pair;

    *rule = (struct fault_rule){
        .text = text,
        .rate = -1,
        .burst = 1,
        .after_us = INT64_MIN,
        .until_us = INT64_MAX,
        .fault = { .at = FAULT_AT_MID,
                   .keep = 50,
                   .bytes = 512,
                   .mb = 64,
                   .bps = 100,
                   .ms = 30000 },
    };
    while (key_values_next(&rest, &pair)) {
        const struct word *word = find_word(pair.name);

        if (word == NULL)
            return error_set(err, ERROR_REQUEST, "fault.word", "unknown key '%.*s'",
                             STR_ARG(pair.name));
        if (!parse_word(rule, word, pair.value))
            return error_set(err, ERROR_REQUEST, "fault.value", "%.*s=%.*s is not valid",
                             STR_ARG(pair.name), STR_ARG(pair.value));
    }
    if (rest.len > 0)
        return error_set(err, ERROR_REQUEST, "fault.quote", "a quote is not closed");
    if (rule->fault.kind == FAULT_NONE)
        return error_set(err, ERROR_REQUEST, "fault.kind", "kind=... is missing");
    if (rule->fault.code == 0)
        rule->fault.code = rule->fault.kind == FAULT_REDIRECT ? 302 : 503;
    return true;
}

/* ---- whether the fault is due ---- */

static bool list_has(struct str list, char separator, struct str wanted)
{
    while (list.len > 0) {
        if (str_eq(str_cut(&list, separator), wanted))
            return true;
    }
    return false;
}

/* As a parameter, an element of one, or a segment of the path. */
static bool names_id(const struct http_call *call, struct str id)
{
    for (size_t i = 0; i < call->param_count; i++) {
        if (list_has(call->params[i].value, ',', id))
            return true;
    }
    return list_has(call->path, '/', id);
}

/* True for a rule without ids. */
static bool names_one_of(const struct http_call *call, struct str ids)
{
    struct str rest = ids;

    while (rest.len > 0) {
        if (names_id(call, str_cut(&rest, ',')))
            return true;
    }
    return ids.len == 0;
}

bool fault_rule_matches(const struct fault_rule *rule, const struct http_call *call,
                        bool other_host)
{
    return str_starts(call->path, rule->path) &&
           (rule->method.len == 0 || str_eq(rule->method, call->method)) &&
           (rule->query.len == 0 || str_find(call->query, rule->query) < call->query.len) &&
           names_one_of(call, rule->ids) && (rule->host == 0 || (rule->host == 2) == other_host) &&
           call->now_us >= rule->after_us && call->now_us < rule->until_us;
}

static bool is_listed(const struct fault_rule *rule, int64_t n)
{
    for (size_t i = 0; i < rule->nth_count; i++) {
        if (rule->nth[i] == n)
            return true;
    }
    return rule->nth_count == 0;
}

static bool starts_burst(const struct fault_rule *rule, uint64_t seed, uint64_t identity, int64_t n)
{
    if (!is_listed(rule, n) || (rule->every > 0 && n % rule->every != 0))
        return false;
    if ((rule->from > 0 && n < rule->from) || (rule->to > 0 && n >= rule->to))
        return false;
    return rule->rate < 0 || hash_unit(hash_of(hash_mix(seed ^ (uint64_t)rule->fault.rule),
                                               identity, (uint64_t)n)) < rule->rate;
}

bool fault_rule_is_due(const struct fault_rule *rule, uint64_t seed, uint64_t identity, int64_t n)
{
    for (int64_t back = 0; back < rule->burst && back < n; back++) {
        if (starts_burst(rule, seed, identity, n - back))
            return true;
    }
    return false;
}
