/* records: invented records much like Crossref's: 5 KB of JSON with an abstract and references,
 * which lz4 halves; ids in no order. */
#ifndef PATRA_BENCH_RECORDS_H
#define PATRA_BENCH_RECORDS_H

enum { RECORD_BYTES_MAX = 5512 };

/* Writes the record of this number at `at` and returns its end. Its date is later in a later round;
 * the rest is always the same. */
char *record_add(char *at, int number, int round);

#endif
