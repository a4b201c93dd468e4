/* commit: stores one fetched batch, in one transaction.
 *
 *      judge ─ fence ─ resolve, signals ─ batch row ─ write, touch ─ rejects, ids ─ run ─ commit
 *                │                            ╰ known: read old, write nothing
 *                ╰ overtaken: write nothing
 *
 * Exactly once. The batch row has three keys; committing a batch that is already stored returns
 * its numbers (is_known) and writes nothing. So a commit whose outcome is unknown
 * ("store.commit_unknown", "store.lost") is repeated after store_reconnect() with the same batch:
 * the fetch keeps it until its next fetch_next. A lost race (store.conflict, store.busy, a record
 * that another worker wrote meanwhile) is repeated here, COMMIT_TRIES_MAX times in all.
 *
 * Fenced. The transaction begins by renewing the lease, which locks the task's row: a worker that
 * was paused and overtaken finds is_held false, and has written nothing. A run that has ended
 * (cancelled, reclaimed) is no longer held either.
 *
 * Records are judged by core/overwrite.h; of one id twice in a batch the later state counts, as
 * one version. Each visible change is one version and one event in the outbox
 * (event/record_event.h). Records are written in the order of their ids, new ones before changed
 * ones, and confirming an unchanged one waits for no lock: two workers with overlapping windows
 * cannot wait for each other. A record that another worker holds or has changed meanwhile is a lost
 * race; the next attempt locks all records first, in the same order.
 *
 * A batch that failed is a row as well, by batch_commit_failed. It takes its number and nothing
 * else: the run continues with the next number.
 */
#ifndef PATRA_ENGINE_EXECUTE_COMMIT_H
#define PATRA_ENGINE_EXECUTE_COMMIT_H

#include "base/uuid.h"
#include "engine/archive/payload_pack.h"
#include "engine/execute/stats.h"
#include "engine/fetch/fetch.h"
#include "port/random.h"
#include "port/store_archive.h"
#include "port/store_lease.h"
#include "port/store_run.h"

/* Each lost race means that another worker made progress; more in a row than there are overlapping
 * workers is a fault.
 */
enum { COMMIT_TRIES_MAX = 16 };

/* Who creates signals and resolves quarantined records. */
#define COMMIT_BY STR("executor")

struct commit_context { /* the same for all batches of a run; views */
    struct store *store;
    struct random_source *random; /* event ids: UUIDv7 */
    struct lease lease;
    int64_t lease_us; /* renewed to now + this: progress is what keeps a lease */
    const struct task *task;
    struct run *run;     /* its checkpoint and stats are those of the last batch that was stored */
    struct str endpoint; /* under which the records are stored: the one that lists them */
    struct str expr_proto_hash; /* the plan's: record_context.expr_hash */
    bool is_by_id; /* the slice is a list of ids: one that is missing, bad or older was checked, and
                      makes no signal */
    struct maybe_instant late_before; /* assignment.late_before */
    struct arena *arena;              /* reset for each batch */
    const struct archived_body *body; /* the response, to be archived with its batch; NULL: it is
                                         not. Of the rest of a response only the hash counts. */
    struct payload_pack *pack; /* for endpoints that want it; NULL: payloads stay as received */

    /* Commit's own: zero at the start, ended by commit_context_release(). */
    struct uuid_state ids;
    struct run_stats stats;
    struct arena kept[2]; /* run->checkpoint and run->stats, by turns */
    int kept_now;
    int64_t counted_no; /* the last batch that stats has in it */
};

struct commit_result {
    bool is_held;        /* false: overtaken, nothing was written */
    int64_t observed_us; /* when the source was asked, by the clock of the store */
    bool is_known;       /* the batch was stored before: its numbers, nothing rewritten */
    int64_t batch_id;    /* what follows is about records */
    int64_t created;
    int64_t updated;
    int64_t same_date; /* of those updated: under the date they had */
    int64_t future;    /* of all: with a date that is not believed */
    int64_t late;      /* of those created, updated and deleted: behind the cursor */
    int64_t unchanged; /* also: the same id again in this batch */
    int64_t older;     /* or observed before what is stored */
    int64_t deleted;
    int64_t quarantined;
    int64_t signals; /* new ones */
    bool has_latest;
    int64_t latest_us; /* furthest updated_at seen, for observed_max */
};

struct commit_times {    /* by the clock that all processes share */
    int64_t observed_us; /* when the request of the batch was sent */
    int64_t now_us;
};

/* After a failure nothing is stored, or (store.commit_unknown) everything; run is as it was. Sets
 * run->checkpoint and run->stats, which live as long as the context and until the next commit. */
bool batch_commit(struct commit_context *context, struct fetch *fetch,
                  const struct fetch_batch *batch, struct commit_times times,
                  struct commit_result *result, struct error *err) MUST_CHECK;

/* The FAILED row of a batch for which fetch_next failed: its digests and counts, and the reason.
 * The checkpoint does not change. */
bool batch_commit_failed(struct commit_context *context, const struct fetch_batch *batch,
                         const struct error *cause, int64_t now_us, struct commit_result *result,
                         struct error *err) MUST_CHECK;

/* run->checkpoint and run->stats end with it. Accepts the zero value. */
void commit_context_release(struct commit_context *context);

#endif
