/* world_options: what a world is made from. Worlds with equal options are equal, byte by byte.
 *
 * The options are a table: the same rows parse a command line, check ranges and print the help.
 */
#ifndef PATRA_SIM_WORLD_WORLD_OPTIONS_H
#define PATRA_SIM_WORLD_WORLD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct world_options {
    int64_t seed;
    int64_t records;
    int64_t from_us; /* everything happens in [from, to) */
    int64_t to_us;

    /* Records. Parts are in ppm (per million). */
    int64_t updates_max; /* versions after the first, at most */
    int64_t delay_us;    /* a version appears within this time after its date, */
    int64_t late_ppm;    /* except that this many are late, */
    int64_t late_us;     /* by at most this */
    int64_t future_ppm;  /* last versions whose date is after their appearance, */
    int64_t future_us;   /* by at most this */
    int64_t burst_ppm;   /* versions that share their instant with others */
    int64_t deleted_ppm; /* records that are deleted */
    int64_t merged_ppm;  /* records that are merged into another */
    int64_t big_day_us;  /* the day on which big_day_records more are created */
    int64_t big_day_records;

    /* Servers. */
    int64_t scroll_idle_us;  /* a Crossref cursor expires when unused for this long, */
    int64_t history_idle_us; /* and so does an E-utilities WebEnv */
    int64_t token_life_us;   /* OAI's resumptionToken and generic tokens expire at this age */
    int64_t pubmed_zone_us;  /* PubMed's days begin at midnight UTC minus this */
};

void world_options_init(struct world_options *options); /* the defaults */

/* Sets one option by its name ("big-day-records"). Instants are ISO-8601 or a plain date, durations
 * 90s, 15m, 20h, 3d. False: unknown name, or a value that is out of range. */
bool world_options_set(struct world_options *options, struct str name, struct str value,
                       struct error *err) MUST_CHECK;

/* Checks the relations between options, once all are set. */
bool world_options_check(const struct world_options *options, struct error *err) MUST_CHECK;

/* "  --records N   how many records (10000)\n" for each. */
void world_options_help(struct buf *out);

/* "seed=1&records=10000&..." with all options: enough to open the same world elsewhere. */
void world_options_write(const struct world_options *options, struct buf *out);

#endif
