/* Notes between sessions: LISTEN and NOTIFY. */
#include <stdio.h>
#include <string.h>

#include "adapter/postgres/postgres.h"

/* Those of one database hear each other. */
static const char *const CHANNELS[WAKE_CHANNELS] = {
    [WAKE_OUTBOX] = "patra_outbox",
    [WAKE_STREAM] = "patra_stream",
};

static struct postgres_session *session_of(struct store *store)
{
    return postgres_session_of(sql_session_of(store));
}

static bool wake_is_pushed(struct store *store)
{
    (void)store;
    return true;
}

static bool wake_listen(struct store *store, enum wake_channel channel, bool *is_new,
                        struct error *err)
{
    struct postgres_session *postgres = session_of(store);
    char sql[64];

    *is_new = postgres->listens_since[channel] != postgres->connection_number;
    if (!*is_new)
        return true;
    (void)snprintf(sql, sizeof(sql), "LISTEN %s", CHANNELS[channel]);
    if (!postgres_run_text(postgres, sql, err))
        return error_wrap(err, "listen");
    postgres->listens_since[channel] = postgres->connection_number;
    return true;
}

/* One round trip. Sessions that notify commit one after the other, so this one does not wait for
 * the disk: a note that a crash of the server loses is about nothing that readers need it for. */
static bool wake_send(struct store *store, enum wake_channel channel, struct str text,
                      struct error *err)
{
    char sql[128 + WAKE_TEXT_MAX];

    (void)snprintf(sql, sizeof(sql), "SET LOCAL synchronous_commit = off; NOTIFY %s, '%.*s'",
                   CHANNELS[channel], STR_ARG(text));
    return postgres_run_text(session_of(store), sql, err) || error_wrap(err, "notify");
}

static int wake_fd(struct store *store)
{
    return PQsocket(session_of(store)->connection);
}

static bool wake_next(struct store *store, struct wake_note *note, bool *has_note,
                      struct error *err)
{
    struct postgres_session *postgres = session_of(store);
    PGnotify *notify;

    pump_stop(&postgres->pump);
    notify = PQnotifies(postgres->connection);
    *note = (struct wake_note){ 0 };
    *has_note = false;
    if (notify == NULL) {
        if (PQconsumeInput(postgres->connection) != 1)
            return postgres_error_set(postgres, NULL, err);
        notify = PQnotifies(postgres->connection);
    }
    if (notify == NULL)
        return true;
    for (int i = 0; i < WAKE_CHANNELS; i++) {
        if (strcmp(notify->relname, CHANNELS[i]) == 0) {
            note->has_channel = true;
            note->channel = (enum wake_channel)i;
        }
    }
    (void)snprintf(note->text, sizeof(note->text), "%s", notify->extra);
    *has_note = true;
    PQfreemem(notify);
    return true;
}

const struct store_wake_ops POSTGRES_WAKE = {
    .is_pushed = wake_is_pushed,
    .listen = wake_listen,
    .send = wake_send,
    .fd = wake_fd,
    .next = wake_next,
};
