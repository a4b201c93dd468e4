/* log: events with fields, one per line.
 *
 *      log_event(log, LOG_INFO, "batch committed", LOG_STR("source", source),
 *                LOG_I64("records", 500), LOG_I64("took_us", took_us));
 *
 * The words of an event are fixed and contain no data; data goes into fields. As text a line is
 *      2026-01-02T03:04:05Z info batch committed source=crossref records=500 took_us=41200
 * and as JSON
 *      {"ts":"2026-01-02T03:04:05Z","level":"info","event":"batch committed",...}
 *
 * Of LOG_INFO events marked by log_sampled(), one in `sample_every` is written, always including
 * the first; warnings and errors are always written. A line is written with one write(), so the
 * lines of several threads do not mix. A log may be shared between threads.
 */
#ifndef PATRA_BASE_LOG_H
#define PATRA_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

struct log_field {
    const char *key;
    enum { LOG_FIELD_STR, LOG_FIELD_I64, LOG_FIELD_BOOL } type;
    struct str text;
    int64_t number;
};

#define LOG_STR(k, s) ((struct log_field){ .key = (k), .type = LOG_FIELD_STR, .text = (s) })
#define LOG_I64(k, n) ((struct log_field){ .key = (k), .type = LOG_FIELD_I64, .number = (n) })
#define LOG_BOOL(k, b) ((struct log_field){ .key = (k), .type = LOG_FIELD_BOOL, .number = (b) })

struct log {
    int fd; /* not owned */
    enum log_level level;
    enum log_format format;
    int64_t (*now_us)(void *context); /* the clock, so that logs of a simulation show its time */
    void *context;
    uint32_t sample_every; /* 0 and 1: write all */
    atomic_uint_fast32_t sampled;
};

#define log_event(log, level, event, ...)                                          \
    log_write((log), (level), false, (event), (struct log_field[]){ __VA_ARGS__ }, \
              sizeof((struct log_field[]){ __VA_ARGS__ }) / sizeof(struct log_field))

#define log_sampled(log, level, event, ...)                                       \
    log_write((log), (level), true, (event), (struct log_field[]){ __VA_ARGS__ }, \
              sizeof((struct log_field[]){ __VA_ARGS__ }) / sizeof(struct log_field))

/* log may be NULL: nothing is written. Lines longer than LOG_LINE_MAX are truncated and marked. */
enum { LOG_LINE_MAX = 8192 };
void log_write(struct log *log, enum log_level level, bool sampled, const char *event,
               const struct log_field *fields, size_t count);

bool log_level_parse(struct str name, enum log_level *level); /* "debug" ... "error" */

#endif
