/* sim_source: a source of patra's that is the simulator, for tests of the program: its store, its
 * settings, and the simulator's own judgement of what the store holds afterwards. */
#ifndef PATRA_TEST_SUPPORT_SIM_SOURCE_H
#define PATRA_TEST_SUPPORT_SIM_SOURCE_H

#include "child.h"
#include "run.h"

#define SIM_SOURCE_NAME "generic-offset"
/* Ten slices, a day each. */
#define SIM_SOURCE_WINDOW "--from", "2026-02-01", "--to", "2026-02-11"

/* patra-sim with these options; ends the test when it does not start. */
struct sim sim_source_start(const char *const *options);
#define SIM_SOURCE_START(...) sim_source_start((const char *const[]){ __VA_ARGS__, NULL })

/* The source in this store, which is made where it is not there, pointed at the simulator; `more`
 * is a further setting. */
void sim_source_apply(const char *store, const struct sim *sim, const char *more);
/* The same with another source's file. */
void sim_source_apply_file(const char *store, const struct sim *sim, const char *path,
                           const char *more);
/* What the simulator says of the window, as JSON; exit code 0 when all is right. Fails the test
 * when the simulator got too many requests (sim_requests.h). */
struct run sim_source_verify(const char *store, const struct sim *sim);

/* The same for PubMed, with a cap that every day is above. */
void sim_source_pubmed_apply(const char *store, const struct sim *sim);
struct run sim_source_pubmed_verify(const char *store, const struct sim *sim, const char *from,
                                    const char *to);

/* Compares the requests with the pages that are needed (sim_requests.h). sim_source_verify() does
 * this itself. */
struct sim_source_pubmed_need {
    int id_batch;
    bool is_capped; /* days are above the cap */
};
void sim_source_pubmed_requests(const char *store, const struct sim *sim,
                                const struct sim_source_pubmed_need *need);

#endif
