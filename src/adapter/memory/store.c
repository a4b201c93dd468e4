#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/memory/store_base.h"
#include "data/json.h"

enum { MEMORY_SCHEMA_VERSION = 1 }; /* there is only ever the schema of this program */

static struct memory_store *memory_store_of(struct store *store)
{
    return (struct memory_store *)store;
}

/* ---- whose turn it is ---- */

static bool take_turn(struct memory_store *session, struct error *err)
{
    if (pthread_mutex_lock(&session->db->turn) == EDEADLK)
        return error_set(err, ERROR_TRANSIENT, "store.busy",
                         "another session of this thread has a transaction open");
    session->has_turn = true;
    return true;
}

static void leave_turn(struct memory_store *session)
{
    if (session->has_turn)
        (void)pthread_mutex_unlock(&session->db->turn);
    session->has_turn = false;
}

/* ---- faults ---- */

/* True when this call is to fail; the fault is then used up. */
static bool strikes(struct memory_db *db, const char *name, struct memory_fault *fault)
{
    bool hit = false;

    (void)pthread_mutex_lock(&db->guard);
    db->calls++;
    if (db->has_fault && (db->fault.name == NULL || strcmp(db->fault.name, name) == 0)) {
        hit = db->fault.call <= 1;
        db->fault.call--;
    }
    if (hit) {
        *fault = db->fault;
        db->has_fault = false;
    }
    (void)pthread_mutex_unlock(&db->guard);
    return hit;
}

static bool fail(const struct memory_fault *fault, const char *name, struct error *err)
{
    return error_set(err, fault->level == ERROR_NONE ? ERROR_TRANSIENT : fault->level,
                     fault->code != NULL ? fault->code : "store.lost", "%s fails on demand%s", name,
                     fault->is_done ? ", its work done" : "");
}

void memory_store_fail(struct store *store, const struct memory_fault *fault)
{
    struct memory_db *db = memory_store_of(store)->db;

    (void)pthread_mutex_lock(&db->guard);
    db->fault = *fault;
    db->has_fault = true;
    (void)pthread_mutex_unlock(&db->guard);
}

int64_t memory_store_calls(struct store *store)
{
    struct memory_db *db = memory_store_of(store)->db;
    int64_t calls;

    (void)pthread_mutex_lock(&db->guard);
    calls = db->calls;
    (void)pthread_mutex_unlock(&db->guard);
    return calls;
}

uint64_t memory_store_hash(struct store *store)
{
    const struct memory_db *db = memory_store_of(store)->db;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < MEMORY_TABLE_COUNT; i++)
        hash = table_hash(&db->tables[i], hash);
    return hash;
}

/* ---- calls ---- */

bool memory_enter(struct memory_call *call, struct store *store, const char *name,
                  struct error *err)
{
    struct memory_store *session = memory_store_of(store);
    struct memory_fault fault;

    *call = (struct memory_call){ .session = session, .db = session->db, .name = name };
    assert(!session->failed);
    if (strikes(session->db, name, &fault)) {
        call->lose_answer = fault.is_done && store->state == STORE_IDLE;
        if (!call->lose_answer) {
            session->failed = store->state != STORE_IDLE;
            return fail(&fault, name, err);
        }
    }
    if (store->state == STORE_IDLE && !take_turn(session, err))
        return false;
    if (!session->db->is_migrated) {
        leave_turn(session);
        return error_set(err, ERROR_FATAL, "store.schema", "%s: the database is empty", name);
    }
    return true;
}

bool memory_leave(struct memory_call *call, bool ok, struct error *err)
{
    struct memory_store *session = call->session;

    if (session->store.state != STORE_IDLE) {
        session->failed = !ok;
        return ok;
    }
    if (ok)
        journal_commit(&call->db->journal);
    else
        journal_rollback(&call->db->journal);
    leave_turn(session);
    return ok && call->lose_answer
               ? error_set(err, ERROR_TRANSIENT, "store.lost", "%s: the answer is lost", call->name)
               : ok;
}

bool memory_text_ok(struct str text, const char *what, struct error *err)
{
    return store_text_ok(text) ||
           error_set(err, ERROR_DATA, "store.text", "%s is not text (UTF-8 without NUL)", what);
}

enum { JSON_CHECK_BYTES_MAX = 64 << 20 };

bool memory_json_ok(struct str text, const char *what, struct error *err)
{
    struct json_doc doc;
    struct arena arena;
    struct error fault;
    bool ok;

    arena_init(&arena, JSON_CHECK_BYTES_MAX);
    ok = json_parse(&doc, &arena, text, &fault);
    arena_release(&arena);
    return ok || error_set(err, ERROR_REQUEST, "store.constraint", "%s is not JSON", what);
}

static bool check_texts(const struct table_def *def, const void *row, struct error *err)
{
    for (size_t i = 0; i < def->text_count; i++) {
        const struct text_def *text = &def->texts[i];

        if (text->kind != TEXT_BYTES && !memory_text_ok(table_row_text(row, text), text->name, err))
            return false;
        if (text->kind == TEXT_JSON && !memory_json_ok(table_row_text(row, text), text->name, err))
            return false;
    }
    return true;
}

bool memory_insert(struct memory_db *db, int table, const void *row, int64_t *id, struct error *err)
{
    return check_texts(db->tables[table].def, row, err) &&
           table_insert(&db->tables[table], &db->journal, row, id, err);
}

bool memory_update(struct memory_db *db, int table, const void *row, struct error *err)
{
    return check_texts(db->tables[table].def, row, err) &&
           table_update(&db->tables[table], &db->journal, row, err);
}

bool memory_refers(struct memory_db *db, int table, int64_t id, struct error *err)
{
    return table_get(&db->tables[table], id) != NULL ||
           error_set(err, ERROR_REQUEST, "store.constraint", "there is no %s %" PRId64,
                     db->tables[table].def->name, id);
}

bool memory_check(bool holds, const char *constraint, struct error *err)
{
    return holds ||
           error_set(err, ERROR_REQUEST, "store.constraint", "a value breaks (%s)", constraint);
}

bool memory_give(struct memory_db *db, int table, const void *row, struct arena *arena, void *out,
                 struct error *err)
{
    const struct table_def *def = db->tables[table].def;

    if (out == NULL)
        return arena_error(arena, err);
    memcpy(out, row, def->row_size);
    for (size_t i = 0; i < def->text_count; i++) {
        const struct str copy = arena_copy(arena, table_row_text(row, &def->texts[i]));

        if (copy.data == NULL)
            return arena_error(arena, err);
        memcpy((char *)out + def->texts[i].offset, &copy, sizeof(copy));
    }
    return true;
}

/* ---- transactions ---- */

static bool memory_begin(struct store *store, bool for_write, struct error *err)
{
    struct memory_store *session = memory_store_of(store);
    struct memory_fault fault;

    (void)for_write;
    if (strikes(session->db, "begin", &fault))
        return fail(&fault, "begin", err);
    session->failed = false;
    return take_turn(session, err);
}

static void memory_rollback(struct store *store)
{
    struct memory_store *session = memory_store_of(store);

    if (session->has_turn)
        journal_rollback(&session->db->journal);
    session->failed = false;
    leave_turn(session);
}

static bool memory_commit(struct store *store, struct error *err)
{
    struct memory_store *session = memory_store_of(store);
    struct memory_fault fault;

    assert(!session->failed); /* after a failed call only a rollback is allowed */
    if (!strikes(session->db, "commit", &fault)) {
        journal_commit(&session->db->journal);
        leave_turn(session);
        return true;
    }
    if (fault.is_done) {
        journal_commit(&session->db->journal);
        leave_turn(session);
        fault.code = "store.commit_unknown";
    } else {
        memory_rollback(store);
    }
    return fail(&fault, "commit", err);
}

static bool memory_lock(struct store *store, struct str name, struct error *err)
{
    struct memory_call call;

    (void)name; /* who has the turn is alone */
    return memory_enter(&call, store, "lock", err) && memory_leave(&call, true, err);
}

static bool memory_reconnect(struct store *store, struct error *err)
{
    (void)err;
    memory_rollback(store);
    return true;
}

static bool memory_migrate(struct store *store, int64_t now_us, int64_t *taken, struct error *err)
{
    struct memory_store *session = memory_store_of(store);

    (void)now_us;
    if (!take_turn(session, err))
        return false;
    *taken = session->db->is_migrated ? 0 : MEMORY_SCHEMA_VERSION;
    session->db->is_migrated = true;
    leave_turn(session);
    return true;
}

static bool memory_schema(struct store *store, struct store_schema *schema, struct error *err)
{
    (void)err;
    schema->latest = MEMORY_SCHEMA_VERSION;
    schema->version = memory_store_of(store)->db->is_migrated ? MEMORY_SCHEMA_VERSION : 0;
    return true;
}

/* ---- sessions ---- */

static void release_db(struct memory_db *db)
{
    int left;

    (void)pthread_mutex_lock(&db->guard);
    left = --db->sessions;
    (void)pthread_mutex_unlock(&db->guard);
    if (left > 0)
        return;
    journal_release(&db->journal);
    for (size_t i = 0; i < MEMORY_TABLE_COUNT; i++)
        table_release(&db->tables[i]);
    (void)pthread_mutex_destroy(&db->turn);
    (void)pthread_mutex_destroy(&db->guard);
    free(db);
}

static void memory_close(struct store *store)
{
    struct memory_store *session = memory_store_of(store);

    memory_rollback(store);
    release_db(session->db);
    free(session);
}

static const struct table_def *const TABLES[MEMORY_TABLE_COUNT] = {
    [MEMORY_SCHEDULE] = &MEMORY_SCHEDULE_TABLE,
    [MEMORY_TICK] = &MEMORY_TICK_TABLE,
    [MEMORY_PLAN] = &MEMORY_PLAN_TABLE,
    [MEMORY_SLICE] = &MEMORY_SLICE_TABLE,
    [MEMORY_TASK] = &MEMORY_TASK_TABLE,
    [MEMORY_CURSOR] = &MEMORY_CURSOR_TABLE,
    [MEMORY_CURSOR_EVENT] = &MEMORY_CURSOR_EVENT_TABLE,
    [MEMORY_PAUSE] = &MEMORY_PAUSE_TABLE,
    [MEMORY_SIGNAL] = &MEMORY_SIGNAL_TABLE,
    [MEMORY_RESLICE] = &MEMORY_RESLICE_TABLE,
    [MEMORY_RECORD] = &MEMORY_RECORD_TABLE,
    [MEMORY_QUARANTINE] = &MEMORY_QUARANTINE_TABLE,
    [MEMORY_OUTBOX] = &MEMORY_OUTBOX_TABLE,
    [MEMORY_RUN] = &MEMORY_RUN_TABLE,
    [MEMORY_BATCH] = &MEMORY_BATCH_TABLE,
    [MEMORY_LISTED] = &MEMORY_LISTED_TABLE,
    [MEMORY_RATE] = &MEMORY_RATE_TABLE,
    [MEMORY_QUOTA] = &MEMORY_QUOTA_TABLE,
    [MEMORY_SLOT] = &MEMORY_SLOT_TABLE,
};

static void init_tables(struct memory_db *db)
{
    for (int i = 0; i < MEMORY_TABLE_COUNT; i++)
        table_init(&db->tables[i], i <= MEMORY_REGISTRY_LAST
                                       ? &MEMORY_REGISTRY_TABLES[i - MEMORY_REGISTRY]
                                       : TABLES[i]);
}

static const struct store_ops MEMORY_STORE;

static bool open_session(struct memory_db *db, struct store **store, struct error *err)
{
    struct memory_store *session = calloc(1, sizeof(*session));

    if (session == NULL) {
        release_db(db);
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a session");
    }
    session->db = db;
    session->store = (struct store){
        .ops = &MEMORY_STORE,
        .registry = &MEMORY_REGISTRY_OPS,
        .schedule = &MEMORY_SCHEDULE_OPS,
        .plan = &MEMORY_PLAN_OPS,
        .task = &MEMORY_TASK_OPS,
        .cursor = &MEMORY_CURSOR_OPS,
        .pause = &MEMORY_PAUSE_OPS,
        .signal = &MEMORY_SIGNAL_OPS,
        .record = &MEMORY_RECORD_OPS,
        .quarantine = &MEMORY_QUARANTINE_OPS,
        .outbox = &MEMORY_OUTBOX_OPS,
        .lease = &MEMORY_LEASE_OPS,
        .run = &MEMORY_RUN_OPS,
        .rate = &MEMORY_RATE_OPS,
        .status = &MEMORY_STATUS_OPS,
    };
    *store = &session->store;
    return true;
}

static bool memory_another(struct store *store, struct store **session, struct error *err)
{
    struct memory_db *db = memory_store_of(store)->db;

    (void)pthread_mutex_lock(&db->guard);
    db->sessions++;
    (void)pthread_mutex_unlock(&db->guard);
    return open_session(db, session, err);
}

static const struct store_ops MEMORY_STORE = {
    .close = memory_close,
    .another = memory_another,
    .reconnect = memory_reconnect,
    .begin = memory_begin,
    .commit = memory_commit,
    .rollback = memory_rollback,
    .lock = memory_lock,
    .migrate = memory_migrate,
    .schema = memory_schema,
};

bool memory_store_open(struct store **store, struct error *err)
{
    struct memory_db *db = calloc(1, sizeof(*db));
    pthread_mutexattr_t attributes;

    if (db == NULL)
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a database");
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    (void)pthread_mutex_init(&db->turn, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    (void)pthread_mutex_init(&db->guard, NULL);
    db->sessions = 1;
    init_tables(db);
    return open_session(db, store, err);
}
