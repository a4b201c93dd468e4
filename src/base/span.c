/* Spans, and a ring of them. */
#include "base/span.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/mask.h"

/* ---- ids ---- */

enum { TRACE_AT = 3, SPAN_AT = 36, TRACEPARENT_LEN = 55 };

static bool is_hex(struct str digits)
{
    bool is_any = false;

    for (size_t i = 0; i < digits.len; i++) {
        if (hex_small_digit(digits.data[i]) < 0)
            return false;
        is_any |= digits.data[i] != '0';
    }
    return is_any; /* zeros mean that there is none */
}

bool span_context_parse(struct str traceparent, struct span_context *context)
{
    const struct str trace = str_slice(traceparent, TRACE_AT, TRACE_AT + SPAN_TRACE_MAX - 1);
    const struct str span = str_slice(traceparent, SPAN_AT, SPAN_AT + SPAN_ID_MAX - 1);

    *context = (struct span_context){ 0 };
    if (traceparent.len != TRACEPARENT_LEN || !str_starts(traceparent, STR("00-")) ||
        !is_hex(trace) || !is_hex(span))
        return false;
    memcpy(context->trace, trace.data, trace.len);
    memcpy(context->span, span.data, span.len);
    return true;
}

void span_trace_set(struct span_context *context, uint64_t high, uint64_t low)
{
    (void)snprintf(context->trace, sizeof(context->trace), "%016" PRIx64 "%016" PRIx64, high,
                   low | 1);
}

void span_id_set(char id[SPAN_ID_MAX], uint64_t bits)
{
    (void)snprintf(id, SPAN_ID_MAX, "%016" PRIx64, bits | 1);
}

/* FNV-1a: it need not resist anybody. */
static uint64_t mix(uint64_t hash, struct str bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        hash = (hash ^ (unsigned char)bytes.data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void span_id_named(char id[SPAN_ID_MAX], const struct span_context *context, struct str name)
{
    const uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), str_of(context->trace));

    span_id_set(id, mix(hash, name));
}

/* ---- parts ---- */

/* Cut at the beginning of a character, and without personal data. */
static void set_text(char text[SPAN_TEXT_MAX], struct str value)
{
    size_t len = value.len < SPAN_TEXT_MAX - 1 ? value.len : SPAN_TEXT_MAX - 1;

    while (len > 0 && len < value.len && ((unsigned char)value.data[len] & 0xC0) == 0x80)
        len--;
    if (len > 0)
        memcpy(text, value.data, len);
    text[mask_personal(text, len)] = '\0';
}

void span_name(struct span *span, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(span->name, sizeof(span->name), format, args);
    va_end(args);
}

static struct span_attribute *add(struct span *span, const char *key)
{
    struct span_attribute *slot;

    if (span->count == SPAN_ATTRIBUTES_MAX)
        return NULL;
    slot = &span->attributes[span->count++];
    *slot = (struct span_attribute){ .key = key };
    return slot;
}

void span_str(struct span *span, const char *key, struct str value)
{
    struct span_attribute *slot = value.len > 0 ? add(span, key) : NULL;

    if (slot != NULL)
        set_text(slot->text, value);
}

void span_i64(struct span *span, const char *key, int64_t value)
{
    struct span_attribute *slot = add(span, key);

    if (slot == NULL)
        return;
    slot->is_number = true;
    slot->number = value;
}

void span_fail(struct span *span, struct str error)
{
    span->is_error = true;
    set_text(span->error, error);
}

/* ---- the queue ---- */

struct tracer {
    pthread_mutex_t lock;
    size_t first;
    size_t count;
    int64_t dropped;
    struct span spans[TRACER_SPANS_MAX]; /* a ring */
};

bool tracer_open(struct tracer **tracer, struct error *err)
{
    *tracer = calloc(1, sizeof(**tracer));
    if (*tracer == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for spans");
    (void)pthread_mutex_init(&(*tracer)->lock, NULL);
    return true;
}

void tracer_close(struct tracer *tracer)
{
    if (tracer == NULL)
        return;
    (void)pthread_mutex_destroy(&tracer->lock);
    free(tracer);
}

void tracer_add(struct tracer *tracer, const struct span *span)
{
    if (tracer == NULL)
        return;
    (void)pthread_mutex_lock(&tracer->lock);
    if (tracer->count < TRACER_SPANS_MAX)
        tracer->spans[(tracer->first + tracer->count++) % TRACER_SPANS_MAX] = *span;
    else
        tracer->dropped++;
    (void)pthread_mutex_unlock(&tracer->lock);
}

size_t tracer_take(struct tracer *tracer, struct span *spans, size_t max, int64_t *dropped)
{
    size_t count;

    (void)pthread_mutex_lock(&tracer->lock);
    count = tracer->count < max ? tracer->count : max;
    for (size_t i = 0; i < count; i++)
        spans[i] = tracer->spans[(tracer->first + i) % TRACER_SPANS_MAX];
    tracer->first = (tracer->first + count) % TRACER_SPANS_MAX;
    tracer->count -= count;
    *dropped = tracer->dropped;
    tracer->dropped = 0;
    (void)pthread_mutex_unlock(&tracer->lock);
    return count;
}
