/* rival: another library that reads the page of bench_json, as a module of its own. */
#ifndef PATRA_BENCH_RIVAL_H
#define PATRA_BENCH_RIVAL_H

#include <stdbool.h>
#include <stddef.h>

struct reading { /* sums over all that was taken out, so that readers can be compared */
    size_t records;
    size_t field_bytes; /* of id, date and title */
    size_t raw_bytes;   /* of the records */
    size_t memory;      /* beyond the page itself, in bytes */
};

/* With raw, each record's JSON text is made too. No records when the page can not be read. */
typedef struct reading rival_read_fn(const char *page, size_t len, bool raw);

#define RIVAL_READ "rival_read"
rival_read_fn rival_read;

#endif
