/* The wrapper's driver: decides whether a fault is due, then calls the database's own driver. */
#include "fault_store.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/sql/session.h"
#include "port/store_mark.h"
#include "port/store_rate.h"

struct fault_process {
    int sessions;
    bool is_dead;
};

struct fault_state { /* shared by all sessions of a database */
    pthread_mutex_t guard;
    int sessions;
    int64_t calls;
    struct store_fault fault;
    bool is_armed;
    bool has_happened;
    bool is_out;
};

struct fault_session {
    struct sql_driver driver; /* first: session->driver points here */
    const struct sql_driver *real;
    struct store_rate_ops rate; /* the store's, with the caller's clock */
    struct store_mark_ops marks;
    const struct store_mark_ops *real_marks;
    struct fault_state *state;
    struct fault_process *process;
    bool is_inside;  /* the real driver, which may run statements of its own: not faulted */
    bool has_failed; /* its transaction: only a rollback may follow */
};

static struct fault_session *fault_of(struct sql_session *session)
{
    return (struct fault_session *)session->driver;
}

static void *allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (memory == NULL)
        abort();
    return memory;
}

/* ---- what is due ---- */

struct due {
    bool is_due;
    bool is_done; /* the call is to be done all the same */
    struct error failure;
};

static bool is_meant(const struct store_fault *fault, enum fault_call call, const char *sql)
{
    return (fault->call == FAULT_ANY_CALL || fault->call == call) &&
           (fault->sql == NULL || (sql != NULL && strstr(sql, fault->sql) != NULL));
}

static void set_failure(struct due *due, const struct store_fault *fault, enum fault_call call)
{
    const bool is_death = fault->effect == FAULT_DEATH;
    const char *code = is_death               ? "store.corrupt"
                       : call == FAULT_COMMIT ? "store.commit_unknown"
                                              : "store.lost";
    enum error_level level = is_death ? ERROR_FATAL : ERROR_TRANSIENT;

    if (fault->code != NULL)
        code = fault->code;
    if (fault->level != ERROR_NONE)
        level = fault->level;
    due->is_due = true;
    due->is_done = fault->effect == FAULT_AFTER;
    (void)error_set(&due->failure, level, code, "a fault on demand%s",
                    due->is_done ? ", the call done" : "");
}

/* Under the guard. The time by which a slow call moves its clock is left to the caller. */
static void decide(struct fault_session *of, enum fault_call call, const char *sql, struct due *due,
                   int64_t *slow_us)
{
    struct fault_state *state = of->state;
    struct store_fault *fault = &state->fault;

    state->calls++;
    if (of->process->is_dead) {
        set_failure(due, &(struct store_fault){ .effect = FAULT_DEATH }, call);
    } else if (state->is_out) {
        set_failure(due, fault, call);
    } else if (state->is_armed && is_meant(fault, call, sql) && --fault->number <= 0) {
        state->is_armed = false;
        state->has_happened = true;
        state->is_out = fault->effect == FAULT_OUTAGE;
        of->process->is_dead = fault->effect == FAULT_DEATH;
        if (fault->effect == FAULT_SLOW)
            *slow_us = fault->slow_us;
        else
            set_failure(due, fault, call);
    }
}

static struct due fault_due(struct sql_session *session, enum fault_call call, const char *sql)
{
    struct fault_session *of = fault_of(session);
    struct due due = { 0 };
    int64_t slow_us = 0;
    struct clock *clock;

    if (of->is_inside)
        return due;
    (void)pthread_mutex_lock(&of->state->guard);
    clock = of->state->fault.clock;
    decide(of, call, sql, &due, &slow_us);
    (void)pthread_mutex_unlock(&of->state->guard);
    if (slow_us > 0)
        (void)clock_sleep_us(clock, slow_us, CLOCK_NO_WAKE);
    return due;
}

/* Whether the process can reach the database at all. */
static bool is_cut_off(struct sql_session *session, struct error *err)
{
    struct fault_session *of = fault_of(session);
    struct due due = { 0 };

    (void)pthread_mutex_lock(&of->state->guard);
    if (of->process->is_dead)
        set_failure(&due, &(struct store_fault){ .effect = FAULT_DEATH }, FAULT_ANY_CALL);
    else if (of->state->is_out)
        set_failure(&due, &of->state->fault, FAULT_ANY_CALL);
    (void)pthread_mutex_unlock(&of->state->guard);
    if (due.is_due)
        *err = due.failure;
    return due.is_due;
}

/* The result of a call that failed or went through; a failure spoils the transaction it is in. */
static bool result(struct sql_session *session, bool ok, const struct due *due, struct error *err)
{
    if (due->is_due && (ok || !due->is_done))
        *err = due->failure;
    ok = ok && !due->is_due;
    if (!ok && session->store.state != STORE_IDLE)
        fault_of(session)->has_failed = true;
    return ok;
}

static void assert_usable(struct sql_session *session)
{
    assert(!fault_of(session)->has_failed); /* after a failure only a rollback is allowed */
}

/* ---- the driver ---- */

static bool begin(struct sql_session *session, bool for_write, struct error *err)
{
    struct fault_session *of = fault_of(session);
    const struct due due = fault_due(session, FAULT_BEGIN, NULL);
    bool ok = true;

    of->has_failed = false;
    of->is_inside = true;
    if (!due.is_due)
        ok = of->real->begin(session, for_write, err);
    of->is_inside = false;
    return result(session, ok, &due, err);
}

static void rollback(struct sql_session *session)
{
    struct fault_session *of = fault_of(session);

    of->has_failed = false;
    of->is_inside = true;
    of->real->rollback(session);
    of->is_inside = false;
}

static bool commit(struct sql_session *session, struct error *err)
{
    struct fault_session *of = fault_of(session);
    const struct due due = fault_due(session, FAULT_COMMIT, NULL);
    bool ok = true;

    assert_usable(session);
    if (due.is_due && !due.is_done) {
        rollback(session);
    } else {
        of->is_inside = true;
        ok = of->real->commit(session, err);
        of->is_inside = false;
    }
    return result(session, ok, &due, err);
}

static bool lock(struct sql_session *session, struct str name, struct error *err)
{
    struct fault_session *of = fault_of(session);
    const struct due due = fault_due(session, FAULT_LOCK, NULL);
    bool ok = true;

    assert_usable(session);
    of->is_inside = true;
    if (!due.is_due)
        ok = of->real->lock(session, name, err);
    of->is_inside = false;
    return result(session, ok, &due, err);
}

/* Migrations. */
static bool run_script(struct sql_session *session, const char *sql, struct error *err)
{
    struct fault_session *of = fault_of(session);
    const struct due due = fault_due(session, FAULT_STATEMENT, sql);
    bool ok = true;

    assert_usable(session);
    of->is_inside = true;
    if (!due.is_due || due.is_done)
        ok = of->real->run_script(session, sql, err);
    of->is_inside = false;
    return result(session, ok, &due, err);
}

/* A statement whose result is lost has run to its end. */
static bool run_through(const struct sql_driver *real, struct statement *st, struct error *err)
{
    bool has_row = true;

    if (!real->start(st, err))
        return false;
    while (has_row) {
        if (!real->step(st, &has_row, err))
            return false;
    }
    return true;
}

static bool start(struct statement *st, struct error *err)
{
    const struct sql_driver *real = fault_of(st->session)->real;
    const struct due due = fault_due(st->session, FAULT_STATEMENT, st->sql);
    bool ok = true;

    assert_usable(st->session);
    if (!due.is_due)
        ok = real->start(st, err);
    else if (due.is_done)
        ok = run_through(real, st, err);
    return result(st->session, ok, &due, err);
}

static bool step(struct statement *st, bool *has_row, struct error *err)
{
    return result(st->session, fault_of(st->session)->real->step(st, has_row, err),
                  &(struct due){ 0 }, err);
}

static bool send(struct statement *st, const struct statement_send *what, struct error *err)
{
    const struct due due = fault_due(st->session, FAULT_BULK, st->sql);
    const bool is_sent = !due.is_due || due.is_done;

    assert_usable(st->session);
    return result(st->session, !is_sent || fault_of(st->session)->real->send(st, what, err), &due,
                  err);
}

/* What was sent must be waited for in any case. */
static bool settle(struct sql_session *session, bool *as_expected, struct error *err)
{
    const struct due due = fault_due(session, FAULT_BULK, NULL);

    return result(session, fault_of(session)->real->settle(session, as_expected, err), &due, err);
}

static bool reconnect(struct sql_session *session, struct error *err)
{
    struct fault_session *of = fault_of(session);
    bool ok = false;

    of->has_failed = false;
    of->is_inside = true;
    if (!is_cut_off(session, err))
        ok = of->real->reconnect(session, err);
    of->is_inside = false;
    return ok;
}

static void wrap(struct sql_session *session, struct fault_state *state,
                 struct fault_process *process);

static bool another(struct sql_session *session, struct sql_session **other, struct error *err)
{
    const struct fault_session *of = fault_of(session);

    if (is_cut_off(session, err) || !of->real->another(session, other, err))
        return false;
    wrap(*other, of->state, of->process);
    return true;
}

static void leave_process(struct fault_session *of)
{
    bool is_last;

    (void)pthread_mutex_lock(&of->state->guard);
    is_last = --of->process->sessions == 0;
    (void)pthread_mutex_unlock(&of->state->guard);
    if (is_last)
        free(of->process);
}

static void close_session(struct sql_session *session)
{
    struct fault_session *of = fault_of(session);
    bool is_last;

    session->driver = of->real;
    of->real->close(session);
    leave_process(of);
    (void)pthread_mutex_lock(&of->state->guard);
    is_last = --of->state->sessions == 0;
    (void)pthread_mutex_unlock(&of->state->guard);
    if (is_last) {
        (void)pthread_mutex_destroy(&of->state->guard);
        free(of->state);
    }
    free(of);
}

static bool local_clock(struct store *store, int64_t local_us, int64_t *now_us, struct error *err)
{
    (void)store;
    (void)err;
    *now_us = local_us;
    return true;
}

static bool local_mark(struct store *store, struct store_mark *mark, bool *has_server,
                       int64_t *server_us, struct error *err)
{
    const bool ok =
        fault_of(sql_session_of(store))->real_marks->load(store, mark, has_server, server_us, err);

    *has_server = false;
    return ok;
}

static void wrap(struct sql_session *session, struct fault_state *state,
                 struct fault_process *process)
{
    struct fault_session *of = allocate(sizeof(*of));

    *of = (struct fault_session){
        .driver = *session->driver, .real = session->driver, .state = state, .process = process
    };
    of->driver.close = close_session;
    of->driver.another = another;
    of->driver.reconnect = reconnect;
    of->driver.begin = begin;
    of->driver.commit = commit;
    of->driver.rollback = rollback;
    of->driver.lock = lock;
    of->driver.run_script = run_script;
    of->driver.start = start;
    of->driver.step = step;
    of->driver.send = send;
    of->driver.settle = settle;
    (void)pthread_mutex_lock(&state->guard);
    state->sessions++;
    process->sessions++;
    (void)pthread_mutex_unlock(&state->guard);
    session->driver = &of->driver;
    of->rate = *session->store.rate;
    of->rate.clock = local_clock;
    session->store.rate = &of->rate;
    of->real_marks = session->store.mark;
    of->marks = *of->real_marks;
    of->marks.load = local_mark;
    session->store.mark = &of->marks;
}

/* ---- for tests ---- */

void fault_store_wrap(struct store *store)
{
    struct fault_state *state = allocate(sizeof(*state));

    (void)pthread_mutex_init(&state->guard, NULL);
    wrap(sql_session_of(store), state, allocate(sizeof(struct fault_process)));
}

void fault_store_new_process(struct store *session)
{
    struct fault_session *of = fault_of(sql_session_of(session));

    leave_process(of);
    of->process = allocate(sizeof(struct fault_process));
    of->process->sessions = 1;
}

void fault_store_arm(struct store *store, const struct store_fault *fault)
{
    struct fault_state *state = fault_of(sql_session_of(store))->state;

    (void)pthread_mutex_lock(&state->guard);
    state->fault = *fault;
    state->is_armed = true;
    state->has_happened = false;
    state->is_out = false;
    (void)pthread_mutex_unlock(&state->guard);
}

bool fault_store_disarm(struct store *store)
{
    struct fault_state *state = fault_of(sql_session_of(store))->state;
    bool has_happened;

    (void)pthread_mutex_lock(&state->guard);
    has_happened = state->has_happened;
    state->is_armed = false;
    state->is_out = false;
    (void)pthread_mutex_unlock(&state->guard);
    return has_happened;
}

int64_t fault_store_calls(struct store *store)
{
    struct fault_state *state = fault_of(sql_session_of(store))->state;
    int64_t calls;

    (void)pthread_mutex_lock(&state->guard);
    calls = state->calls;
    (void)pthread_mutex_unlock(&state->guard);
    return calls;
}
