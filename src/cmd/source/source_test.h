/* source_test: patra source test, in six files.
 *
 *      source_test.c            options; the source, its operation, its window
 *      source_test_response.c   the response: requested, or saved in a file
 *      source_live.c            permits, and the HTTP client
 *      source_test_show.c       the request, the page, the warnings: as text and as JSON
 *      source_test_faults.c     the source against the faults of patra-sim
 *      sim_server.c             patra-sim, started and stopped
 */
#ifndef PATRA_CMD_SOURCE_SOURCE_TEST_H
#define PATRA_CMD_SOURCE_SOURCE_TEST_H

#include "cli/unset.h"
#include "cmd/source/source.h"
#include "cmd/source/source_live.h"
#include "engine/probe/probe.h"
#include "port/secret.h"

struct source_test {
    const struct invocation *invocation;
    struct session session; /* without a store for a file, unless --store names one */
    struct source source;
    struct str operation;
    struct spec spec;
    struct slice slice;
    const struct str *ids;
    size_t id_count;
    int64_t pages; /* to be read at most */
};

/* Returns "***" for every secret: what is only shown or sent to loopback needs none. */
struct secret_source source_test_stand_in(void);

/* ---- source_test_response.c ---- */

/* Close `live` in any case. "source.resting" (L2) for a source that is paused. */
bool source_test_open(struct source_test *test, struct source_live *live,
                      struct secret_source *secrets, struct error *err) MUST_CHECK;

/* Sends the request, with one permit of the gate. */
bool source_test_send(struct source_live *live, struct probe *probe, struct error *err) MUST_CHECK;

/* ---- source_test_show.c ---- */

struct source_test_result {
    const struct probe *probe;
    const struct probe *pages; /* as the probe was after each page that was read */
    size_t page_count;
    bool is_answered;                 /* there is a response */
    bool is_page;                     /* and it could be read; else `failure` says why not */
    const struct error *failure;      /* NULL: none */
    const struct request_shown *part; /* the request for some ids of the window; NULL: none */
    struct id_range part_ids;
    const struct unset *unset; /* references that are not set on this machine */
    size_t unset_count;
};

bool source_test_print(const struct source_test *test, const struct source_test_result *result,
                       struct error *err) MUST_CHECK;
bool source_test_print_json(const struct source_test *test, const struct source_test_result *result,
                            struct error *err) MUST_CHECK;

/* ---- source_test_faults.c ---- */

/* *code is EXIT_FOUND when a fault makes the source lose records unnoticed. */
bool source_test_faults(struct source_test *test, enum exit_code *code,
                        struct error *err) MUST_CHECK;

#endif
