/* seconds: measured times, and the distribution of their samples. */
#ifndef PATRA_BENCH_SECONDS_H
#define PATRA_BENCH_SECONDS_H

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static inline double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* CPU time of this process, all its threads. */
static inline double process_cpu_s(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
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
