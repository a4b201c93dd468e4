/* seconds: measured times, and the distribution of their samples. */
#ifndef PATRA_BENCH_SECONDS_H
#define PATRA_BENCH_SECONDS_H

#include <stdlib.h>
#include <time.h>

static inline double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline int seconds_order(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return (left > right) - (left < right);
}

static inline void seconds_sort(double *samples_s, size_t count)
{
    qsort(samples_s, count, sizeof(samples_s[0]), seconds_order);
}

#endif
