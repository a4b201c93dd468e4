/* commit_worker: a worker with a task, a run and a fake source, for tests of batch_commit.
 *
 *      struct worker worker;
 *
 *      worker_open(&worker, store, "dated");
 *      worker_fetch(&worker, "{\"items\":[...]}");
 *      result = worker_commit(&worker, NOW_US);
 *      worker_close(&worker);
 */
#ifndef PATRA_TEST_CONTRACT_COMMIT_WORKER_H
#define PATRA_TEST_CONTRACT_COMMIT_WORKER_H

#include "engine/execute/commit.h"
#include "engine/message/envelope.h"
#include "fetch_rig.h"
#include "port/store_outbox.h"
#include "port/store_record.h"

struct worker {
    struct rig rig;
    struct store *store;
    struct task task;
    struct run run;
    struct arena arena; /* the batch's */
    struct commit_context context;
    struct fetch *fetch;
    struct fetch_batch batch;
    const char *body; /* of every reply from now on */
    const char *operation;
    int status;
    int64_t next_no; /* of the run's batches */
};

/* Takes a task of the queue; adds a plan with some when there is none. The owner is any name. */
void worker_open(struct worker *worker, struct store *store, const char *operation);
void worker_close(struct worker *worker);

/* A new walk whose replies all have this body, and its first batch. */
void worker_fetch(struct worker *worker, const char *body);
/* The next batch of that walk; a NULL body keeps the last one. False: it failed, with err. */
bool worker_next(struct worker *worker, const char *body, struct error *err);

/* The batch was requested at now_us, too. */
bool worker_try(struct worker *worker, int64_t now_us, struct commit_result *result,
                struct error *err);
struct commit_result worker_commit(struct worker *worker, int64_t now_us);
/* The batch was requested at another time than it is committed. */
struct commit_result worker_commit_at(struct worker *worker, struct commit_times times);

/* Of the endpoint "dated" unless said otherwise. */
struct stored_record commit_record(struct store *store, const char *endpoint, const char *id);
struct stored_event_list commit_events(struct store *store, const char *endpoint, const char *id);
struct str commit_wire(const struct stored_event *stored); /* as it is published */

/* An item's date, and a page of one item: its id and its other members. */
#define AT(second) "\"at\":\"2026-01-05T00:00:" second "Z\""
const char *commit_page(const char *id, const char *members);

#endif
