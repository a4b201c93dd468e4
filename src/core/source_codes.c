/* source_codes: the words and meanings of the source dictionaries. */
#include "core/source_codes.h"

#include <assert.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/instant.h"

#define ITEM(word, text)               \
    {                                  \
        STR_INIT(word), STR_INIT(text) \
    }
#define TABLE(type, text, items)                                \
    {                                                           \
        STR_INIT(type), STR_INIT(text), items, ARRAY_LEN(items) \
    }

static const struct code_item GRANULARITY_ITEMS[] = {
    [GRANULARITY_MICROSECOND] = ITEM("MICROSECOND", "microseconds"),
    [GRANULARITY_MILLISECOND] = ITEM("MILLISECOND", "milliseconds"),
    [GRANULARITY_SECOND] = ITEM("SECOND", "seconds"),
    [GRANULARITY_MINUTE] = ITEM("MINUTE", "minutes"),
    [GRANULARITY_HOUR] = ITEM("HOUR", "hours"),
    [GRANULARITY_DAY] = ITEM("DAY", "whole days, UTC"),
};
const struct code_table GRANULARITY_CODES =
    TABLE("reg_granularity", "the finest step of time a source filters by", GRANULARITY_ITEMS);

static const struct code_item BEYOND_NOW_ITEMS[] = {
    [BEYOND_CLAMP] = ITEM("CLAMP", "end the window at now - lag"),
    [BEYOND_REFUSE] = ITEM("REFUSE", "make no plan"),
};
const struct code_table BEYOND_NOW_CODES =
    TABLE("reg_beyond_now", "what to do with a --to after now - lag", BEYOND_NOW_ITEMS);

static const struct code_item BACKOFF_ITEMS[] = {
    [BACKOFF_EXPONENTIAL_JITTER] = ITEM("EXPONENTIAL_JITTER", "longer each time, with jitter"),
    [BACKOFF_EXPONENTIAL] = ITEM("EXPONENTIAL", "longer each time"),
    [BACKOFF_FIXED] = ITEM("FIXED", "always the same"),
};
const struct code_table BACKOFF_CODES =
    TABLE("reg_backoff", "how the wait between attempts grows", BACKOFF_ITEMS);

static const struct code_item SAME_TOKEN_ITEMS[] = {
    [SAME_TOKEN_END] = ITEM("END", "the last page was reached"),
    [SAME_TOKEN_CONTINUE] =
        ITEM("CONTINUE", "the server keeps the position; send the same token again"),
    [SAME_TOKEN_ERROR] = ITEM("ERROR", "the source is broken; stop the walk"),
};
const struct code_table SAME_TOKEN_CODES =
    TABLE("reg_same_token", "a next token equal to the one sent", SAME_TOKEN_ITEMS);

static const struct code_item RATE_SCOPE_ITEMS[] = {
    [RATE_SCOPE_ENDPOINT] = ITEM("ENDPOINT", "each endpoint has its own bucket"),
    [RATE_SCOPE_SOURCE] = ITEM("SOURCE", "all endpoints of the source share one"),
    [RATE_SCOPE_HOST] = ITEM("HOST", "all sources on the same host share one"),
};
const struct code_table RATE_SCOPE_CODES =
    TABLE("reg_rate_scope", "who shares a bucket of the rate gate", RATE_SCOPE_ITEMS);

static const struct code_item MEANING_429_ITEMS[] = {
    [MEANING_429_TOO_FAST] = ITEM("TOO_FAST", "wait, then continue more slowly"),
    [MEANING_429_QUOTA] = ITEM("QUOTA", "the quota is used up; suspend the source until it resets"),
};
const struct code_table MEANING_429_CODES =
    TABLE("reg_meaning_429", "what HTTP status 429 means", MEANING_429_ITEMS);

static const struct code_item LETTER_CASE_ITEMS[] = {
    [LETTER_CASE_KEEP] = ITEM("KEEP", "as received"),
    [LETTER_CASE_LOWER] = ITEM("LOWER", "ASCII letters made lower case"),
};
const struct code_table LETTER_CASE_CODES =
    TABLE("reg_letter_case", "the case of the letters of an id", LETTER_CASE_ITEMS);

static const struct code_item RESPONSE_PARTS[] = {
    [RESPONSE_PART_ITEMS] = ITEM("ITEMS", "response.items"),
    [RESPONSE_PART_TOTAL] = ITEM("TOTAL", "response.total"),
    [RESPONSE_PART_NEXT] = ITEM("NEXT", "page.next or page.next_header"),
    [RESPONSE_PART_HAS_MORE] = ITEM("HAS_MORE", "response.has_more"),
    [RESPONSE_PART_UPDATED_AT] = ITEM("UPDATED_AT", "response.updated_at of a record"),
};
const struct code_table RESPONSE_PART_CODES =
    TABLE("reg_response_part", "what a valid response may lack", RESPONSE_PARTS);

static const struct code_item FIELD_TYPE_ITEMS[] = {
    [FIELD_ANY] = ITEM("ANY", "as found"),
    [FIELD_TEXT] = ITEM("TEXT", "a text; a number or boolean as it is written"),
    [FIELD_INTEGER] = ITEM("INTEGER", "a whole number of 64 bits"),
    [FIELD_NUMBER] = ITEM("NUMBER", "a number"),
    [FIELD_BOOLEAN] = ITEM("BOOLEAN", "true or false, yes or no, y or n, 1 or 0"),
    [FIELD_INSTANT] = ITEM("INSTANT", "a moment, in one of response.date_formats"),
    [FIELD_DATE] = ITEM("DATE", "a day, in one of response.date_formats"),
    [FIELD_JSON] = ITEM("JSON", "any value of JSON, unchanged"),
};
const struct code_table FIELD_TYPE_CODES =
    TABLE("reg_field_type", "what the values of a field are", FIELD_TYPE_ITEMS);

static const struct code_item VALUE_KIND_ITEMS[] = {
    [VALUE_ANY] = ITEM("ANY", "anything but null"),
    [VALUE_PRESENT] = ITEM("PRESENT", "the member is there, even if it is null"),
    [VALUE_ARRAY] = ITEM("ARRAY", "a list, even an empty one"),
    [VALUE_OBJECT] = ITEM("OBJECT", "an object, even an empty one"),
    [VALUE_TEXT] = ITEM("TEXT", "a text, even an empty one"),
    [VALUE_NUMBER] = ITEM("NUMBER", "a number"),
    [VALUE_BOOLEAN] = ITEM("BOOLEAN", "true or false"),
};
const struct code_table VALUE_KIND_CODES =
    TABLE("reg_value_kind", "what a rule expects at its path", VALUE_KIND_ITEMS);

static const struct code_item RULE_MEANING_ITEMS[] = {
    [RULE_ERROR] = ITEM("ERROR", "the request failed, at the rule's level"),
    [RULE_THROTTLED] = ITEM("THROTTLED", "too many requests: wait, then continue more slowly"),
    [RULE_QUOTA] = ITEM("QUOTA", "the quota is used up: suspend the source until it resets"),
    [RULE_EXPIRED] =
        ITEM("EXPIRED", "the token has expired: walk again from the last stable position"),
    [RULE_TOO_DEEP] = ITEM("TOO_DEEP", "deeper than the source allows: re-slice"),
    [RULE_EMPTY] = ITEM("EMPTY", "a valid response without records"),
};
const struct code_table RULE_MEANING_CODES =
    TABLE("reg_rule_meaning", "what a rule says about a response", RULE_MEANING_ITEMS);

static const struct code_item ERROR_LEVEL_ITEMS[] = {
    [ERROR_NONE] = ITEM("OK", "no error"),
    [ERROR_TRANSIENT] = ITEM("L1", "may succeed later: back off and retry"),
    [ERROR_REQUEST] = ITEM("L2", "will not succeed: stop the batch"),
    [ERROR_DATA] = ITEM("L3", "one bad record: quarantine it and continue"),
    [ERROR_FATAL] = ITEM("L4", "stop the source and call a person"),
};
const struct code_table ERROR_LEVEL_CODES =
    TABLE("ing_error_level", "how bad an error is", ERROR_LEVEL_ITEMS);

static const struct code_item TIME_ZONE_ITEMS[] = {
    [TIME_ZONE_UTC] = ITEM("UTC", "coordinated universal time"),
};
const struct code_table TIME_ZONE_CODES =
    TABLE("reg_time_zone", "the zone in which templates write dates", TIME_ZONE_ITEMS);

static const struct code_item TIME_FORMAT_ITEMS[] = {
    [TIME_FORMAT_ISO] = ITEM("ISO", "2026-01-31T10:00:00Z, with a fraction where there is one"),
};
const struct code_table TIME_FORMAT_CODES =
    TABLE("reg_time_format", "how templates write an instant", TIME_FORMAT_ITEMS);

static const struct code_item ID_SLICING_ITEMS[] = {
    [ID_SLICING_HASH] = ITEM("HASH", "by a hash of the id, into buckets of equal size"),
    [ID_SLICING_RANGE] = ITEM("RANGE", "by ranges of neighbouring ids"),
};
const struct code_table ID_SLICING_CODES =
    TABLE("reg_id_slicing", "how ids are divided into slices", ID_SLICING_ITEMS);

int64_t granularity_us(enum granularity granularity)
{
    static const int64_t lengths[] = {
        [GRANULARITY_MICROSECOND] = 1,        [GRANULARITY_MILLISECOND] = US_PER_MS,
        [GRANULARITY_SECOND] = US_PER_SECOND, [GRANULARITY_MINUTE] = US_PER_MINUTE,
        [GRANULARITY_HOUR] = US_PER_HOUR,     [GRANULARITY_DAY] = US_PER_DAY,
    };

    assert((size_t)granularity < ARRAY_LEN(lengths));
    return lengths[granularity];
}
