/* fetch_rig: a walk with everything around it, for tests of the fetch side.
 *
 *      struct rig rig;
 *
 *      rig_init(&rig, "test/data/fetch/openalex.yaml", "harvest", NULL);
 *      rig_window(&rig, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
 *      rig_reply(&rig, "fixtures/openalex/works-cursor-1.json", NULL);
 *      rig_run(&rig);
 *      CHECK_EQ(rig.ids.count, 2, "records");
 *
 * A source's file may say @BASE@ for its base URL. Virtual time, seeded random numbers, a gate that
 * always allows and remembers; http is the scripted one unless rig.parts.http is set to another.
 */
#ifndef PATRA_TEST_SUPPORT_FETCH_RIG_H
#define PATRA_TEST_SUPPORT_FETCH_RIG_H

#include "engine/fetch/fetch.h"
#include "fixed_secret.h"
#include "scripted_http.h"
#include "seeded_random.h"
#include "spec/edit.h"
#include "virtual_clock.h"

struct rig_gate {
    struct permit_gate gate; /* first */
    struct clock *clock;
    int acquired;
    int prefetched; /* of which without waiting */
    int fed_back;
    int requests; /* according to feedback */
    int unused;   /* permits that came back */
    int throttled;
    int failing;
    int quota;
    int reject_after; /* permits; 0: never */
    bool no_prefetch;
    struct permit_feedback last;
    int64_t retry_after_us; /* the longest fed back */
};

struct rig_texts {
    struct str *items;
    size_t count;
};

struct rig_dates { /* INT64_MIN: none */
    int64_t *items;
    size_t count;
};

struct rig {
    struct arena arena;
    struct spec spec;
    struct slice slice;
    struct virtual_clock clock;
    struct seeded_random random;
    struct fixed_secrets secrets;
    struct scripted_http http;
    struct rig_gate gate;
    struct fetch_parts parts;
    struct fetch_order order;

    /* What came, over all runs since rig_init. */
    struct rig_texts ids;      /* of records, distinct, in the order of coming */
    struct rig_texts payloads; /* of the latest coming, by the same index */
    struct rig_dates dates;    /* in the same order */
    struct rig_texts dead;     /* ids of tombstones */
    struct rig_texts listed;   /* ids of phase one */
    struct rig_texts bad;      /* "position reason id" */
    struct rig_texts lost;     /* "id reason" */
    struct rig_texts befores;  /* tokens before, of batches that tell one */
    struct rig_texts requests; /* digests */
    struct rig_texts keys;     /* idempotent keys */
    int batches;
    int refused;     /* batches that are one refused id */
    int deferred;    /* batches without a response */
    int64_t records; /* with repetitions */
    /* Its views are gone, but for verdict.reason, and response_digest of a failure. */
    struct fetch_batch last;
    struct fetch_counts sums;
    struct str checkpoint; /* of the last batch */
    struct error err;
    bool failed;
    int stop_after; /* batches: the run is given up then; 0: never */
    /* Called for each batch while it is valid. */
    void (*look)(struct rig *rig, struct fetch *fetch, const struct fetch_batch *batch);
    void *context;
};

/* `base` may be NULL. The source must be without faults. */
void rig_init(struct rig *rig, const char *file, const char *operation, const char *base);
/* Changes instead of @BASE@; they must outlive the rig. */
void rig_init_edited(struct rig *rig, const char *file, const char *operation,
                     struct edit_list edits);
void rig_release(struct rig *rig);

/* The slice: a window that is its own query. */
void rig_window(struct rig *rig, const char *from, const char *to);

/* Adds a recorded response to the script: its body, status and headers (FILE.head). Skips the test
 * without the fixtures. url_part may be NULL. */
void rig_reply(struct rig *rig, const char *fixture, const char *url_part);

/* Walks until the end, a failure (rig->failed, rig->err) or stop_after. */
void rig_run(struct rig *rig);
/* Resumes from the last checkpoint, as another process would: with the ids that were listed. */
void rig_resume(struct rig *rig);

bool rig_has(const struct rig_texts *texts, struct str text);

#endif
