/* Meters: a list of series for each family. */
#include "base/meter.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct series {
    char *values[METER_LABELS_MAX];
    double sum;
    uint64_t count;                     /* HISTOGRAM */
    uint64_t buckets[METER_BOUNDS_MAX]; /* HISTOGRAM: each by itself */
};

struct family {
    const struct meter_family *what;
    struct series *series;
    size_t count;
};

struct meters {
    pthread_mutex_t lock;
    struct family *families;
    size_t count;
};

bool meters_open(struct meters **out, const struct meter_family *families, size_t count,
                 struct error *err)
{
    struct meters *meters = calloc(1, sizeof(*meters));

    *out = meters;
    if (meters != NULL)
        meters->families = calloc(count, sizeof(*meters->families));
    if (meters == NULL || meters->families == NULL) {
        meters_close(meters);
        *out = NULL;
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for meters");
    }
    (void)pthread_mutex_init(&meters->lock, NULL);
    meters->count = count;
    for (size_t i = 0; i < count; i++)
        meters->families[i].what = &families[i];
    return true;
}

static size_t labels_of(const struct meter_family *what)
{
    size_t count = 0;

    while (count < METER_LABELS_MAX && what->labels[count] != NULL)
        count++;
    return count;
}

static void forget(struct family *family)
{
    for (size_t i = 0; i < family->count; i++) {
        for (size_t v = 0; v < METER_LABELS_MAX; v++)
            free(family->series[i].values[v]);
    }
    free(family->series);
    family->series = NULL;
    family->count = 0;
}

void meters_close(struct meters *meters)
{
    if (meters == NULL)
        return;
    for (size_t i = 0; i < meters->count; i++)
        forget(&meters->families[i]);
    free(meters->families);
    free(meters);
}

/* ---- counting ---- */

static struct series *find(struct family *family, const struct str *values, size_t labels)
{
    for (size_t i = 0; i < family->count; i++) {
        size_t same = 0;

        while (same < labels && str_eq(str_of(family->series[i].values[same]), values[same]))
            same++;
        if (same == labels)
            return &family->series[i];
    }
    return NULL;
}

static struct series *add(struct family *family, const struct str *values, size_t labels)
{
    struct series fresh = { 0 };
    struct series *grown;
    bool ok = true;

    grown = realloc(family->series, (family->count + 1) * sizeof(*grown));
    if (grown == NULL)
        return NULL;
    family->series = grown;
    for (size_t i = 0; i < labels; i++) {
        fresh.values[i] = strndup(values[i].len > 0 ? values[i].data : "", values[i].len);
        ok = ok && fresh.values[i] != NULL;
    }
    if (!ok) {
        for (size_t i = 0; i < labels; i++)
            free(fresh.values[i]);
        return NULL;
    }
    grown[family->count] = fresh;
    return &grown[family->count++];
}

static struct series *series_of(struct family *family, const struct str *values)
{
    static const struct str other[METER_LABELS_MAX] = { STR_INIT("other"), STR_INIT("other"),
                                                        STR_INIT("other"), STR_INIT("other"),
                                                        STR_INIT("other") };
    const size_t labels = labels_of(family->what);
    struct series *series = find(family, values, labels);

    if (series == NULL && family->count >= METER_SERIES_MAX) {
        values = other;
        series = find(family, values, labels);
    }
    return series != NULL ? series : add(family, values, labels);
}

static void count(struct series *series, const struct meter_family *what, double amount)
{
    series->sum += amount;
    series->count++;
    if (what->type != METER_HISTOGRAM)
        return;
    for (size_t i = 0; i < METER_BOUNDS_MAX && what->bounds[i] > 0; i++) {
        if (amount <= what->bounds[i]) {
            series->buckets[i]++;
            return;
        }
    }
}

void meters_add(struct meters *meters, size_t family, const struct str *values, double amount)
{
    struct series *series;

    if (meters == NULL)
        return;
    assert(family < meters->count);
    (void)pthread_mutex_lock(&meters->lock);
    series = series_of(&meters->families[family], values);
    if (series != NULL)
        count(series, meters->families[family].what, amount);
    (void)pthread_mutex_unlock(&meters->lock);
}

void meters_clear(struct meters *meters, size_t family)
{
    if (meters == NULL)
        return;
    assert(family < meters->count);
    (void)pthread_mutex_lock(&meters->lock);
    forget(&meters->families[family]);
    (void)pthread_mutex_unlock(&meters->lock);
}

/* ---- the text ---- */

static void write_escaped(struct buf *out, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\\' || *value == '"')
            buf_add_char(out, '\\');
        if (*value == '\n')
            buf_add(out, STR("\\n"));
        else
            buf_add_char(out, *value);
    }
}

/* `bound`: the value of the label "le"; NULL: it has none. */
static void write_labels(struct buf *out, const struct meter_family *what,
                         const struct series *series, const char *bound)
{
    const size_t labels = labels_of(what);

    if (labels == 0 && bound == NULL)
        return;
    buf_add_char(out, '{');
    for (size_t i = 0; i < labels; i++) {
        buf_printf(out, "%s%s=\"", i > 0 ? "," : "", what->labels[i]);
        write_escaped(out, series->values[i]);
        buf_add_char(out, '"');
    }
    if (bound != NULL)
        buf_printf(out, "%sle=\"%s\"", labels > 0 ? "," : "", bound);
    buf_add_char(out, '}');
}

static void write_number(struct buf *out, double number)
{
    if (number == floor(number) && fabs(number) < 1e15)
        buf_printf(out, " %.0f\n", number);
    else
        buf_printf(out, " %.17g\n", number);
}

static void write_histogram(struct buf *out, const struct meter_family *what,
                            const struct series *series)
{
    uint64_t so_far = 0;
    char bound[32];

    for (size_t i = 0; i < METER_BOUNDS_MAX && what->bounds[i] > 0; i++) {
        so_far += series->buckets[i];
        (void)snprintf(bound, sizeof(bound), "%g", what->bounds[i]);
        buf_printf(out, "%s_bucket", what->name);
        write_labels(out, what, series, bound);
        write_number(out, (double)so_far);
    }
    buf_printf(out, "%s_bucket", what->name);
    write_labels(out, what, series, "+Inf");
    write_number(out, (double)series->count);
    buf_printf(out, "%s_sum", what->name);
    write_labels(out, what, series, NULL);
    write_number(out, series->sum);
    buf_printf(out, "%s_count", what->name);
    write_labels(out, what, series, NULL);
    write_number(out, (double)series->count);
}

static void write_family(struct buf *out, const struct family *family)
{
    static const char *const types[] = { "counter", "gauge", "histogram" };
    const struct meter_family *what = family->what;

    if (family->count == 0)
        return;
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", what->name, what->help, what->name,
               types[what->type]);
    for (size_t i = 0; i < family->count; i++) {
        if (what->type == METER_HISTOGRAM) {
            write_histogram(out, what, &family->series[i]);
            continue;
        }
        buf_printf(out, "%s", what->name);
        write_labels(out, what, &family->series[i], NULL);
        write_number(out, family->series[i].sum);
    }
}

void meters_write(struct meters *meters, struct buf *out)
{
    if (meters == NULL)
        return;
    (void)pthread_mutex_lock(&meters->lock);
    for (size_t i = 0; i < meters->count; i++)
        write_family(out, &meters->families[i]);
    (void)pthread_mutex_unlock(&meters->lock);
}
