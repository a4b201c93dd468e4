/* Opening the store for a command. */
#include "cli/session.h"

#include <stdlib.h>

#include "adapter/store_open.h"
#include "adapter/system/system.h"

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

    *session = (struct session){ .clock = system_clock(), .random = system_random() };
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

bool session_open(struct session *session, const struct invocation *invocation, struct error *err)
{
    return connect(session, invocation, false, err) && store_schema_check(session->store, err);
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
