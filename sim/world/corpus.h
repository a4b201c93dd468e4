/* corpus: the records of a world and their versions.
 *
 *      record 17   |--- v1 ---|------ v2 ------|-- v3 (deleted) ...
 *                  ^ visible              ^ v2 -> v3
 *
 * A record is a number, 0 .. count-1. A version has a date (`at`, which filters and bodies use),
 * the time from which the API shows it (`visible`), and flags. The date is mostly a little before
 * the version appears, sometimes long before (late arrivals), rarely after (clocks that are ahead).
 * Within a record, dates and appearances both strictly increase; at any time the last visible
 * version is the current one, and the only one an API knows.
 *
 * Only this skeleton is in memory (21 bytes a version); texts are derived from the hash of (seed,
 * record, version) when needed. Read-only after corpus_open(), so any thread may read.
 */
#ifndef PATRA_SIM_WORLD_CORPUS_H
#define PATRA_SIM_WORLD_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "sim/world/world_options.h"

enum {
    VERSION_DEPOSIT = 1, /* sent by the member; others are the provider's own indexing */
    VERSION_DELETED = 2,
    VERSION_MERGED = 4,
};

enum { LIFE_VERSIONS_MAX = 32 };

#define CORPUS_NONE UINT32_MAX

struct life {
    size_t count;
    struct {
        int64_t at_us;
        int64_t visible_us;
        uint8_t flags;
    } versions[LIFE_VERSIONS_MAX];
};

/* All versions of one record, derived from the options only. */
void life_make(const struct world_options *options, uint32_t record, struct life *life);

struct corpus {
    struct world_options options;
    uint32_t count;
    uint32_t version_count;
    uint32_t *first;     /* [count + 1]: the record's versions are first[r] .. first[r+1]-1 */
    uint32_t *record_of; /* [version_count] */
    int64_t *at_us;      /* [version_count] */
    int64_t *visible_us; /* [version_count] */
    uint8_t *flags;      /* [version_count] */
};

bool corpus_open(struct corpus *corpus, const struct world_options *options,
                 struct error *err) MUST_CHECK;
void corpus_close(struct corpus *corpus);

/* The version that is current at that moment, as an index into the arrays; CORPUS_NONE before the
 * first is visible. */
uint32_t corpus_current(const struct corpus *corpus, uint32_t record, int64_t now_us);

/* 1 for the first. */
static inline uint32_t corpus_ordinal(const struct corpus *corpus, uint32_t version)
{
    return version - corpus->first[corpus->record_of[version]] + 1;
}

/* The record that this one was, or will be, merged into; it is itself never merged or deleted. Only
 * for records with a VERSION_MERGED version. */
uint32_t corpus_merged_into(const struct world_options *options, uint32_t record);

/* The other dates of a record, all derived. */
int64_t corpus_created_us(const struct corpus *corpus, uint32_t record);
int64_t corpus_deposited_us(const struct corpus *corpus, uint32_t version);

/* When the work was published: often partly known, sometimes in the future, sometimes unknown. */
struct published {
    int year;  /* 0: unknown */
    int month; /* 0: unknown */
    int day;   /* 0: unknown */
};
struct published corpus_published(const struct corpus *corpus, uint32_t record);
int64_t corpus_published_us(const struct corpus *corpus, uint32_t record); /* its first day */

/* PubMed's EDAT: the creation date; the publication date for works added a year late or more. */
int64_t corpus_entrez_us(const struct corpus *corpus, uint32_t record);

#endif
