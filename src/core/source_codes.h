/* source_codes: the dictionaries that are used only in the description of a source.
 *
 * They are tables like those of core/codes.h, whose list includes them.
 */
#ifndef PATRA_CORE_SOURCE_CODES_H
#define PATRA_CORE_SOURCE_CODES_H

#include <stdint.h>

#include "core/codes.h"

/* The finest step of time that a source can filter by. */
enum granularity {
    GRANULARITY_MICROSECOND,
    GRANULARITY_MILLISECOND,
    GRANULARITY_SECOND,
    GRANULARITY_MINUTE,
    GRANULARITY_HOUR,
    GRANULARITY_DAY,
};
extern const struct code_table GRANULARITY_CODES;
int64_t granularity_us(enum granularity granularity);

/* What to do when --to is after now - lag. */
enum beyond_now { BEYOND_CLAMP, BEYOND_REFUSE };
extern const struct code_table BEYOND_NOW_CODES;

enum backoff { BACKOFF_EXPONENTIAL_JITTER, BACKOFF_EXPONENTIAL, BACKOFF_FIXED };
extern const struct code_table BACKOFF_CODES;

/* What it means when the next token equals the one just sent. */
enum same_token { SAME_TOKEN_END, SAME_TOKEN_CONTINUE, SAME_TOKEN_ERROR };
extern const struct code_table SAME_TOKEN_CODES;

/* Who shares one bucket of the rate gate. */
enum rate_scope { RATE_SCOPE_ENDPOINT, RATE_SCOPE_SOURCE, RATE_SCOPE_HOST };
extern const struct code_table RATE_SCOPE_CODES;

enum meaning_429 { MEANING_429_TOO_FAST, MEANING_429_QUOTA };
extern const struct code_table MEANING_429_CODES;

enum letter_case { LETTER_CASE_KEEP, LETTER_CASE_LOWER };
extern const struct code_table LETTER_CASE_CODES;

/* What a source's paths find in a response besides the fields of its records. */
enum response_part {
    RESPONSE_PART_ITEMS,
    RESPONSE_PART_TOTAL,
    RESPONSE_PART_NEXT,
    RESPONSE_PART_HAS_MORE,
    RESPONSE_PART_UPDATED_AT,
};
extern const struct code_table RESPONSE_PART_CODES;

/* What the values of a field are. */
enum field_type {
    FIELD_ANY, /* as found: the source gives no type */
    FIELD_TEXT,
    FIELD_INTEGER, /* 64 bits, exact */
    FIELD_NUMBER,
    FIELD_BOOLEAN,
    FIELD_INSTANT,
    FIELD_DATE,
    FIELD_JSON,
};
enum { FIELD_TYPES = FIELD_JSON + 1 };
extern const struct code_table FIELD_TYPE_CODES;

/* What a rule expects at its path. */
enum value_kind {
    VALUE_ANY,     /* anything but null */
    VALUE_PRESENT, /* null, too */
    VALUE_ARRAY,
    VALUE_OBJECT,
    VALUE_TEXT,
    VALUE_NUMBER,
    VALUE_BOOLEAN,
};
extern const struct code_table VALUE_KIND_CODES;

/* What a rule says about a response it matches. */
enum rule_meaning {
    RULE_ERROR,     /* the request failed, at the rule's level */
    RULE_THROTTLED, /* too many requests: wait */
    RULE_QUOTA,     /* the quota is used up: suspend the source until it resets */
    RULE_EXPIRED,   /* token or history has expired: walk again from the last stable position */
    RULE_TOO_DEEP,  /* deeper than the source allows: re-slice */
    RULE_EMPTY,     /* a valid response without records */
};
extern const struct code_table RULE_MEANING_CODES;

/* The words of enum error_level. */
extern const struct code_table ERROR_LEVEL_CODES;

/* patra writes one zone and one form; templates have functions for all others. */
enum time_zone { TIME_ZONE_UTC };
extern const struct code_table TIME_ZONE_CODES;
enum time_format { TIME_FORMAT_ISO };
extern const struct code_table TIME_FORMAT_CODES;

enum id_slicing { ID_SLICING_HASH, ID_SLICING_RANGE };
extern const struct code_table ID_SLICING_CODES;

#endif
