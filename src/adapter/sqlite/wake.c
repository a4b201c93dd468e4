/* Notes between sessions. A file sends none: data_version says whether another session, of this
 * process or another, has committed since it was asked last. */
#include "adapter/sqlite/sqlite.h"

static const char DATA_VERSION[] = "PRAGMA data_version";

static struct sqlite_session *session_of(struct store *store)
{
    return sqlite_session_of(sql_session_of(store));
}

static bool wake_is_pushed(struct store *store)
{
    (void)store;
    return false;
}

static bool ask(struct store *store, bool *is_changed, struct error *err)
{
    struct sqlite_session *sqlite = session_of(store);
    int64_t version;

    if (!rows_only_i64(&statement_of(store, DATA_VERSION)->rows, &version, err))
        return error_wrap(err, "ask for commits");
    *is_changed = version != sqlite->data_version;
    sqlite->data_version = version;
    return true;
}

static bool wake_listen(struct store *store, enum wake_channel channel, bool *is_new,
                        struct error *err)
{
    struct sqlite_session *sqlite = session_of(store);
    bool ignored;

    (void)channel;
    *is_new = !sqlite->is_listening;
    sqlite->is_listening = true;
    return !*is_new || ask(store, &ignored, err);
}

static bool wake_send(struct store *store, enum wake_channel channel, struct str text,
                      struct error *err)
{
    (void)store;
    (void)channel;
    (void)text;
    (void)err;
    return true;
}

static int wake_fd(struct store *store)
{
    (void)store;
    return -1;
}

static bool wake_next(struct store *store, struct wake_note *note, bool *has_note,
                      struct error *err)
{
    *note = (struct wake_note){ 0 };
    return ask(store, has_note, err);
}

const struct store_wake_ops SQLITE_WAKE = {
    .is_pushed = wake_is_pushed,
    .listen = wake_listen,
    .send = wake_send,
    .fd = wake_fd,
    .next = wake_next,
};
