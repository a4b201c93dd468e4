/* error: set once, wrapped on the way up, printed once.
 *
 * A function that can fail returns bool and takes `struct error *err` last. The error is on the
 * caller's stack, so it outlives the arena and the transaction whose failure it describes. err must
 * not be NULL: a caller that ignores a failure does so explicitly.
 */
#ifndef PATRA_BASE_ERROR_H
#define PATRA_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

/* The level, and nothing else, decides what the engine does next. */
enum error_level {
    ERROR_NONE = 0,
    ERROR_TRANSIENT, /* L1, may yet succeed: timeout, 503, 429, a busy store. Back off, retry. */
    ERROR_REQUEST,   /* L2, never will: 400, 404, a bad parameter. Stop, name the field. */
    ERROR_DATA,      /* L3, one bad record: no id, no date. Quarantine it, continue. */
    ERROR_FATAL,     /* L4, credentials, signature, schema. Stop the source, call a person. */
};

enum { ERROR_TEXT_MAX = 1024 };

struct error {
    enum error_level level;
    const char *code; /* stable, dotted, a string literal: "json.syntax" */
    const char *file; /* where it was set */
    int line;
    char text[ERROR_TEXT_MAX]; /* UTF-8, no controls; longer texts are cut between two characters */
};

/* Sets the error where its cause is known. The expression is false, so that one can write
 * `return error_set(err, ERROR_REQUEST, "json.syntax", "offset %zu: ...", at);`
 * The false is in the macro and not in the function, so that compilers and clang-tidy can see that
 * the caller fails and leaves its outputs unset. */
#define error_set(err, level, code, ...) \
    (error_set_at((err), (level), (code), __FILE__, __LINE__, __VA_ARGS__), false)

void error_set_at(struct error *err, enum error_level level, const char *code, const char *file,
                  int line, const char *format, ...) PRINTF_LIKE(6, 7);

/* Prepends what the caller was doing, and to what: "advance cursor x: <text>". Is false. */
#define error_wrap(err, ...) (error_wrap_with((err), __VA_ARGS__), false)

void error_wrap_with(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

const char *error_level_name(enum error_level level); /* "L1" ... "L4", "OK" */

#endif
