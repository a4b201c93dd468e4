/* Makes the lives of records from the seed, and derives their other dates. */
#include "sim/world/corpus.h"

#include <assert.h>
#include <stdlib.h>

#include "base/instant.h"
#include "sim/util/hash.h"

/* What is decided at random about a record; for a version, its ordinal is added above the low byte.
 */
enum {
    CHANCE_JITTER,
    CHANCE_PLACE,
    CHANCE_BURST,
    CHANCE_UPDATES,
    CHANCE_GAP,
    CHANCE_GAP_FRACTION,
    CHANCE_DEPOSIT,
    CHANCE_FATE,
    CHANCE_DELAY,
    CHANCE_LATE,
    CHANCE_FUTURE,
    CHANCE_TARGET,
    CHANCE_PUBLISHED,
    CHANCE_PUBLISHED_DAY,
};

static uint64_t chance(const struct world_options *options, uint32_t record, size_t version,
                       int question)
{
    return hash_of((uint64_t)options->seed, record, (uint64_t)version << 8 | (uint64_t)question);
}

enum fate { FATE_LIVES, FATE_DELETED, FATE_MERGED };

static enum fate fate_of(const struct world_options *options, uint32_t record)
{
    const uint32_t random = hash_below(chance(options, record, 0, CHANCE_FATE), 1000000);

    if (random < options->deleted_ppm)
        return FATE_DELETED;
    if (random < options->deleted_ppm + options->merged_ppm)
        return FATE_MERGED;
    return FATE_LIVES;
}

static int64_t part_of(uint64_t hash, int64_t whole)
{
    return whole > 0 ? (int64_t)((hash >> 1) % (uint64_t)whole) : 0;
}

static int64_t to_millis(int64_t us)
{
    return us - us % US_PER_MS;
}

/* Bursts fall on a grid so wide that some 25 versions share each of its instants. */
static int64_t burst_step_us(const struct world_options *options)
{
    const int64_t bursts = options->records * options->burst_ppm / 1000000 / 25 + 1;
    const int64_t step = (options->to_us - options->from_us) / bursts;

    return step - step % US_PER_SECOND + US_PER_SECOND;
}

static bool is_big_day_record(const struct world_options *options, uint32_t record)
{
    const int64_t first = (options->records - options->big_day_records) / 2;

    return record >= first && record < first + options->big_day_records;
}

/* Roughly in the order of record numbers, like accession numbers: up to three days off. */
static int64_t birth_us(const struct world_options *options, uint32_t record)
{
    const int64_t span = options->to_us - options->from_us;
    const int64_t disorder = span > 12 * US_PER_DAY ? 3 * US_PER_DAY : span / 4;
    const uint64_t place = chance(options, record, 0, CHANCE_PLACE);
    int64_t at;

    if (is_big_day_record(options, record)) {
        at = options->big_day_us - options->big_day_us % US_PER_DAY + part_of(place, US_PER_DAY);
        return hash_happens(chance(options, record, 1, CHANCE_BURST), (uint32_t)options->burst_ppm)
                   ? at - at % US_PER_HOUR
                   : to_millis(at);
    }
    at = options->from_us + (int64_t)((double)span * record / (double)options->records) +
         part_of(place, 2 * disorder) - disorder;
    if (at < options->from_us)
        at = options->from_us + part_of(place, disorder);
    if (at >= options->to_us)
        at = options->to_us - 1 - part_of(place, disorder);
    if (hash_happens(chance(options, record, 1, CHANCE_BURST), (uint32_t)options->burst_ppm))
        at -= (at - options->from_us) % burst_step_us(options);
    return at == options->from_us ? at : to_millis(at);
}

static size_t update_count(const struct world_options *options, uint32_t record)
{
    const uint64_t random = chance(options, record, 0, CHANCE_UPDATES);
    size_t count = 0;

    /* Half of the records never change; each further update is half as likely again. */
    while (count < (size_t)options->updates_max && (random >> count & 1) != 0)
        count++;
    return count;
}

/* From a second to half the world's age, each octave equally likely; some wait for a burst. */
static int64_t next_us(const struct world_options *options, uint32_t record, size_t version,
                       int64_t last_us)
{
    const uint64_t gap = chance(options, record, version, CHANCE_GAP);
    const int64_t seconds_max = (options->to_us - options->from_us) / US_PER_SECOND / 2;
    const uint32_t octaves = 63U - (uint32_t)__builtin_clzll((uint64_t)seconds_max | 2);
    const int64_t octave = INT64_C(1) << hash_below(gap, octaves + 1);
    const int64_t at =
        last_us + octave * US_PER_SECOND +
        part_of(chance(options, record, version, CHANCE_GAP_FRACTION), octave * US_PER_SECOND);

    if (hash_happens(chance(options, record, version, CHANCE_BURST),
                     (uint32_t)options->burst_ppm)) {
        const int64_t step = burst_step_us(options);

        return at + step - (at - options->from_us) % step;
    }
    return to_millis(at);
}

static int64_t delay_us(const struct world_options *options, uint32_t record, size_t version)
{
    const uint64_t late = chance(options, record, version, CHANCE_LATE);
    const uint64_t delay = chance(options, record, version, CHANCE_DELAY);

    return to_millis(hash_happens(late, (uint32_t)options->late_ppm)
                         ? part_of(delay, options->late_us + 1)
                         : part_of(delay, options->delay_us + 1));
}

static void add_version(const struct world_options *options, uint32_t record, struct life *life,
                        int64_t at_us, uint8_t flags)
{
    const size_t n = life->count;
    int64_t visible_us = at_us + delay_us(options, record, n + 1);

    if (n > 0 && visible_us <= life->versions[n - 1].visible_us)
        visible_us = life->versions[n - 1].visible_us + US_PER_MS;
    life->versions[n].at_us = at_us;
    life->versions[n].visible_us = visible_us;
    life->versions[n].flags = flags;
    life->count++;
}

/* The last version may be seen before the date it carries, but never before its predecessor. */
static void date_ahead(const struct world_options *options, uint32_t record, struct life *life)
{
    const size_t last = life->count - 1;
    const uint64_t random = chance(options, record, 0, CHANCE_FUTURE);
    int64_t visible_us;

    if (!hash_happens(random, (uint32_t)options->future_ppm))
        return;
    visible_us = to_millis(life->versions[last].at_us - part_of(random, options->future_us + 1));
    if (last > 0 && visible_us <= life->versions[last - 1].visible_us)
        visible_us = life->versions[last - 1].visible_us + US_PER_MS;
    life->versions[last].visible_us = visible_us;
}

void life_make(const struct world_options *options, uint32_t record, struct life *life)
{
    const size_t updates = update_count(options, record);
    const enum fate fate = fate_of(options, record);
    int64_t at_us = birth_us(options, record);

    life->count = 0;
    add_version(options, record, life, at_us, VERSION_DEPOSIT);
    for (size_t version = 2; version <= updates + 1; version++) {
        const uint64_t deposit = chance(options, record, version, CHANCE_DEPOSIT);

        at_us = next_us(options, record, version, at_us);
        if (at_us >= options->to_us)
            break;
        add_version(options, record, life, at_us, deposit % 5 < 2 ? VERSION_DEPOSIT : 0);
    }
    if (fate == FATE_LIVES) {
        date_ahead(options, record, life);
        return;
    }
    at_us = next_us(options, record, life->count + 1, life->versions[life->count - 1].at_us);
    if (at_us < options->to_us)
        add_version(options, record, life, at_us,
                    fate == FATE_DELETED ? VERSION_DEPOSIT | VERSION_DELETED
                                         : VERSION_DEPOSIT | VERSION_MERGED);
}

static bool allocate(struct corpus *corpus, struct error *err)
{
    const size_t versions = corpus->version_count;

    corpus->first = calloc((size_t)corpus->count + 1, sizeof(*corpus->first));
    corpus->record_of = calloc(versions, sizeof(*corpus->record_of));
    corpus->at_us = calloc(versions, sizeof(*corpus->at_us));
    corpus->visible_us = calloc(versions, sizeof(*corpus->visible_us));
    corpus->flags = calloc(versions, sizeof(*corpus->flags));
    if (corpus->first != NULL && corpus->record_of != NULL && corpus->at_us != NULL &&
        corpus->visible_us != NULL && corpus->flags != NULL)
        return true;
    corpus_close(corpus);
    return error_set(err, ERROR_FATAL, "memory", "no memory for %zu versions", versions);
}

bool corpus_open(struct corpus *corpus, const struct world_options *options, struct error *err)
{
    struct life life;
    uint32_t next = 0;

    *corpus = (struct corpus){ .options = *options, .count = (uint32_t)options->records };
    for (uint32_t record = 0; record < corpus->count; record++) {
        life_make(options, record, &life);
        corpus->version_count += (uint32_t)life.count;
    }
    if (!allocate(corpus, err))
        return false;
    for (uint32_t record = 0; record < corpus->count; record++) {
        life_make(options, record, &life);
        corpus->first[record] = next;
        for (size_t i = 0; i < life.count; i++, next++) {
            corpus->record_of[next] = record;
            corpus->at_us[next] = life.versions[i].at_us;
            corpus->visible_us[next] = life.versions[i].visible_us;
            corpus->flags[next] = life.versions[i].flags;
        }
    }
    corpus->first[corpus->count] = next;
    assert(next == corpus->version_count);
    return true;
}

void corpus_close(struct corpus *corpus)
{
    free(corpus->first);
    free(corpus->record_of);
    free(corpus->at_us);
    free(corpus->visible_us);
    free(corpus->flags);
    *corpus = (struct corpus){ 0 };
}

uint32_t corpus_current(const struct corpus *corpus, uint32_t record, int64_t now_us)
{
    uint32_t version = corpus->first[record + 1];

    while (version > corpus->first[record]) {
        version--;
        if (corpus->visible_us[version] <= now_us)
            return version;
    }
    return CORPUS_NONE;
}

uint32_t corpus_merged_into(const struct world_options *options, uint32_t record)
{
    /* The first record after a random one that is never merged or deleted. If every record is,
     * any will do. */
    uint32_t target =
        hash_below(chance(options, record, 0, CHANCE_TARGET), (uint32_t)options->records);

    for (int64_t tries = 0; tries < options->records; tries++) {
        if (target != record && fate_of(options, target) == FATE_LIVES)
            return target;
        target = (target + 1) % (uint32_t)options->records;
    }
    return target;
}

int64_t corpus_created_us(const struct corpus *corpus, uint32_t record)
{
    return corpus->at_us[corpus->first[record]];
}

int64_t corpus_deposited_us(const struct corpus *corpus, uint32_t version)
{
    while ((corpus->flags[version] & VERSION_DEPOSIT) == 0)
        version--; /* a record's first version always is a deposit */
    return corpus->at_us[version];
}

struct published corpus_published(const struct corpus *corpus, uint32_t record)
{
    const uint32_t kind = hash_below(chance(&corpus->options, record, 0, CHANCE_PUBLISHED), 100);
    const uint64_t day = chance(&corpus->options, record, 0, CHANCE_PUBLISHED_DAY);
    int64_t at_us = corpus_created_us(corpus, record);
    struct civil civil;

    if (kind < 1)
        return (struct published){ 0, 0, 0 };
    if (kind < 5) /* ahead, up to a year */
        at_us += part_of(day, 365 * US_PER_DAY);
    else if (kind < 12) /* an old work that is added only now */
        at_us -= 400 * US_PER_DAY + part_of(day, 20000 * US_PER_DAY);
    else
        at_us -= part_of(day, 90 * US_PER_DAY);
    civil = instant_to_civil(at_us);
    if (kind < 18)
        return (struct published){ civil.year, 0, 0 };
    if (kind < 30)
        return (struct published){ civil.year, civil.month, 0 };
    return (struct published){ civil.year, civil.month, civil.day };
}

int64_t corpus_published_us(const struct corpus *corpus, uint32_t record)
{
    const struct published published = corpus_published(corpus, record);

    if (published.year == 0)
        return INT64_MIN;
    return instant_from_civil((struct civil){ .year = published.year,
                                              .month = published.month > 0 ? published.month : 1,
                                              .day = published.day > 0 ? published.day : 1 });
}

int64_t corpus_entrez_us(const struct corpus *corpus, uint32_t record)
{
    const int64_t created_us = corpus_created_us(corpus, record);
    const int64_t published_us = corpus_published_us(corpus, record);

    if (published_us != INT64_MIN && published_us < created_us - 365 * US_PER_DAY)
        return published_us;
    return created_us;
}
