/* rival: the interface of another JSON library, loaded as a module by bench_json. */
#ifndef PATRA_BENCH_RIVAL_H
#define PATRA_BENCH_RIVAL_H

#include <stdbool.h>
#include <stddef.h>

struct reading { /* sums over everything extracted, so that readers can be compared */
    size_t records;
    size_t field_bytes; /* of id, date and title */
    size_t raw_bytes;   /* of the records */
    size_t memory;      /* beyond the page itself, in bytes */
};

/* With `raw`, also extracts each record's JSON text. No records when the page cannot be read. */
typedef struct reading rival_read_fn(const char *page, size_t len, bool raw);

#define RIVAL_READ "rival_read"
rival_read_fn rival_read;

#endif
