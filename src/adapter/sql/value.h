/* value: a value that is bound to a place of a statement. */
#ifndef PATRA_ADAPTER_SQL_VALUE_H
#define PATRA_ADAPTER_SQL_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum sql_type {
    SQL_I64,
    SQL_BOOL,
    SQL_REAL,
    SQL_INSTANT, /* microseconds */
    SQL_TEXT,    /* UTF-8 without NUL */
    SQL_JSON,
    SQL_BYTES,
    SQL_UUID,   /* as text */
    SQL_HASH,   /* 64 hexadecimal digits, or none; stored as bytes; in cells only */
    SQL_DIGITS, /* a whole number of any length, as decimal digits */
};

/* The memory of a text is borrowed until the statement has finished. */
struct sql_value {
    enum sql_type type;
    bool is_set; /* false: NULL of this type */
    int64_t i64;
    double real;
    struct str text;
};

#endif
