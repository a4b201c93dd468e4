/* span: pieces of work with a begin, an end and a parent, for OpenTelemetry; and the queue in which
 * they wait to be sent.
 *
 *      struct span span = { .kind = SPAN_CLIENT, .begin_us = ..., .end_us = ... };
 *
 *      span_name(&span, "HTTP Call");
 *      span_str(&span, "http.request.method", STR("GET"));
 *      tracer_add(tracer, &span);
 *
 * A span is a value of fixed size: what is too long is cut, attributes beyond SPAN_ATTRIBUTES_MAX
 * are left out. Texts must hold no secrets; e-mail addresses and phone numbers are masked here.
 *
 * The queue is bounded. Adding never waits for whoever sends: where it is full, the span is dropped
 * and counted. Threads: any number may add; one takes.
 */
#ifndef PATRA_BASE_SPAN_H
#define PATRA_BASE_SPAN_H

#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

enum {
    SPAN_TRACE_MAX = 33, /* 32 hexadecimal digits and NUL */
    SPAN_ID_MAX = 17,
    SPAN_NAME_MAX = 64,
    SPAN_TEXT_MAX = 160,
    SPAN_ATTRIBUTES_MAX = 20,
    TRACER_SPANS_MAX = 2048, /* some 9 MB, only where spans are sent */
};

/* The numbers of OpenTelemetry. */
enum span_kind { SPAN_INTERNAL = 1, SPAN_CLIENT = 3, SPAN_PRODUCER = 4, SPAN_CONSUMER = 5 };

struct span_context { /* which trace, which span of it; "": none */
    char trace[SPAN_TRACE_MAX];
    char span[SPAN_ID_MAX];
};

struct span_attribute {
    const char *key; /* static */
    bool is_number;
    int64_t number;
    char text[SPAN_TEXT_MAX];
};

struct span {
    struct span_context context;
    char parent[SPAN_ID_MAX]; /* "": it is the first of its trace */
    char name[SPAN_NAME_MAX];
    enum span_kind kind;
    int64_t begin_us; /* calendar */
    int64_t end_us;
    bool is_error;
    char error[SPAN_TEXT_MAX];
    struct span_attribute attributes[SPAN_ATTRIBUTES_MAX];
    size_t count;
};

/* Of "00-TRACE-SPAN-01" (W3C Trace Context); false: it is not that. */
bool span_context_parse(struct str traceparent, struct span_context *context);

/* A trace of 128 random bits, or a span of 64. */
void span_trace_set(struct span_context *context, uint64_t high, uint64_t low);
void span_id_set(char id[SPAN_ID_MAX], uint64_t bits);

/* The id that a part of a trace has by its name, so that whoever knows the name knows the id. */
void span_id_named(char id[SPAN_ID_MAX], const struct span_context *context, struct str name);

void span_name(struct span *span, const char *format, ...) PRINTF_LIKE(2, 3);
void span_str(struct span *span, const char *key, struct str value);
void span_i64(struct span *span, const char *key, int64_t value);
void span_fail(struct span *span, struct str error);

struct tracer;

bool tracer_open(struct tracer **tracer, struct error *err) MUST_CHECK;
void tracer_close(struct tracer *tracer); /* accepts NULL */

/* Accepts NULL: nobody wants it. */
void tracer_add(struct tracer *tracer, const struct span *span);

/* Up to `max` of the oldest, and how many were dropped since the last call. */
size_t tracer_take(struct tracer *tracer, struct span *spans, size_t max, int64_t *dropped);

#endif
