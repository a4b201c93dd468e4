/* Opening the store for a command. */
#include "cli/session.h"

#include <stdlib.h>

#include "adapter/store_open.h"
#include "adapter/system/system.h"
#include "base/text.h"

/* Commands show lists of sources, plans and windows, never millions of them. */
#define COMMAND_BYTES_MAX ((size_t)256 << 20)

static struct str dsn_of(const struct invocation *invocation)
{
    const char *given = invocation_value(invocation, "store");

    if (given == NULL)
        given = getenv("PATRA_STORE");
    return str_of(given != NULL && given[0] != '\0' ? given : "patra.db");
}

static bool connect(struct session *session, const struct invocation *invocation, bool create,
                    struct error *err)
{
    const struct str dsn = dsn_of(invocation);

    *session = (struct session){ .random = system_random() };
    steady_clock_init(&session->steady);
    arena_init(&session->arena, COMMAND_BYTES_MAX);
    system_secrets_init(&session->secrets, NULL);
    session->dsn = store_dsn_redact(&session->arena, dsn);
    if (!spec_cache_open(&session->specs, err) ||
        !wake_open(&session->wake, &session->random, err) ||
        !store_open(dsn, &(struct store_options){ .create = create }, &session->store, err))
        return false;
    session->store->listener = wake_listener(session->wake);
    return true;
}

bool session_init(struct session *session, const struct invocation *invocation,
                  struct session_made *made, struct error *err)
{
    return connect(session, invocation, true, err) &&
           store_migrate(session->store, clock_now_us(&session->clock), &made->migrations, err) &&
           store_words_restore(session->store, &made->words, err);
}

/* Whoever reads goes on; whoever writes by the time is refused (session_time). */
static void warn_of_jump(const struct invocation *invocation, struct session *session,
                         const struct store_time *time)
{
    struct error err;

    if (time->jump == CLOCK_BEHIND) {
        (void)store_time_refuse(time, &err);
        fprintf(invocation->talk, "patra: warning: %s\n", err.text);
    } else if (time->jump == CLOCK_AHEAD) {
        fprintf(invocation->talk,
                "patra: warning: this host's clock was set ahead by %.*s; patra goes on by the "
                "time before that. Set the clock right, or, if it is right now, run: patra clock "
                "accept\n",
                STR_ARG(text_span_in(&session->arena, time->by_us)));
    }
}

bool session_open(struct session *session, const struct invocation *invocation, struct error *err)
{
    struct store_time time;

    if (!connect(session, invocation, false, err) || !store_schema_check(session->store, err) ||
        !store_time_look(session->store, &session->clock, &time, err))
        return false;
    warn_of_jump(invocation, session, &time);
    return true;
}

bool session_time(struct session *session, int64_t *now_us, struct error *err)
{
    struct store_time time;

    if (!store_time_in_force(session->store, &session->clock, &time, err))
        return false;
    *now_us = time.now_us;
    return true;
}

void session_close(struct session *session)
{
    wake_flush(session->wake, session->store);
    store_close(session->store);
    wake_close(session->wake);
    spec_cache_close(session->specs);
    arena_release(&session->arena);
    *session = (struct session){ 0 };
}

struct view_reader session_reader(struct session *session)
{
    return (struct view_reader){ .store = session->store,
                                 .arena = &session->arena,
                                 .now_us = clock_now_us(&session->clock),
                                 .clock = &session->clock,
                                 .secrets = &session->secrets.source };
}

enum exit_code session_run(const struct invocation *invocation,
                           bool (*verb)(const struct invocation *invocation,
                                        struct session *session, enum exit_code *code,
                                        struct error *err))
{
    struct session session = { 0 };
    enum exit_code code = EXIT_DONE;
    struct error err;

    if (!session_open(&session, invocation, &err) || !verb(invocation, &session, &code, &err))
        code = command_failed(invocation, &err);
    session_close(&session);
    return code;
}
