/* session: the open store that a command works on. */
#ifndef PATRA_CLI_SESSION_H
#define PATRA_CLI_SESSION_H

#include "adapter/system/steady_clock.h"
#include "adapter/system/system.h"
#include "base/arena.h"
#include "cli/command.h"
#include "engine/session/store_time.h"
#include "engine/source/spec_cache.h"
#include "engine/wake/wake.h"
#include "port/clock.h"
#include "port/store.h"
#include "view/reader.h"

/* The option that every such command has. */
#define SESSION_OPTION                                                                    \
    {                                                                                     \
        "store", "DSN",                                                                   \
            "The store: a SQLite file or postgresql://... (else $PATRA_STORE, patra.db)." \
    }

struct session {
    struct arena arena; /* for everything the command makes */
    union {
        struct clock clock; /* the store's time, as it was when the store was opened or asked */
        struct steady_clock steady;
    };
    struct str dsn; /* without its password, for printing */
    struct store *store;
    struct spec_cache *specs; /* for all threads of the process, as `wake` */
    struct wake *wake;        /* hears of all events that its sessions write */
    struct system_secrets secrets;
    struct random_source random;
};

/* Opens the store that --store, $PATRA_STORE or the default names, and checks its schema. */
bool session_open(struct session *session, const struct invocation *invocation,
                  struct error *err) MUST_CHECK;

/* The same, but creates the database where there is none, and applies the migrations it lacks. */
struct session_made {
    int64_t migrations; /* that were applied */
    int64_t words;      /* of the dictionaries that were restored */
};
bool session_init(struct session *session, const struct invocation *invocation,
                  struct session_made *made, struct error *err) MUST_CHECK;

void session_close(struct session *session); /* accepts the zero value */

/* The time to write by. L1 "store.clock" when it cannot be believed: see store_time.h. */
bool session_time(struct session *session, int64_t *now_us, struct error *err) MUST_CHECK;

/* For views: the session's store and arena, at this instant. */
struct view_reader session_reader(struct session *session);

/* Opens, runs the verb, closes, and prints a failure. *code is EXIT_DONE when the verb starts. */
enum exit_code session_run(const struct invocation *invocation,
                           bool (*verb)(const struct invocation *invocation,
                                        struct session *session, enum exit_code *code,
                                        struct error *err));

#endif
