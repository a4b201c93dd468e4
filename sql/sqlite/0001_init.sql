-- The dictionaries, the path of the work (trigger -> plan -> slice -> task -> run -> batch), and its
-- progress: cursors and their events.
--
-- Instants are INTEGER microseconds since 1970-01-01T00:00:00Z, windows half-open [from, to).
-- JSON is stored as text, unchanged, because snapshots are hashed.
-- The words of a code column are in the dictionary that core/codes.h names.

-- ---- dictionaries ----

CREATE TABLE sys_dict_type (
    type_code TEXT NOT NULL PRIMARY KEY CHECK (type_code <> ''),
    meaning   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sys_dict_item (
    type_code TEXT    NOT NULL REFERENCES sys_dict_type,
    item_code TEXT    NOT NULL CHECK (item_code <> ''),
    position  INTEGER NOT NULL CHECK (position >= 0),
    meaning   TEXT    NOT NULL,
    PRIMARY KEY (type_code, item_code)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX uk_dict_position ON sys_dict_item (type_code, position);

-- ---- the store itself ----

-- Which store this is: tokens of exports name it, so that one of another store is refused.
CREATE TABLE sys_store (
    one      INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    store_id TEXT    NOT NULL CHECK (length(store_id) = 32)
) STRICT;

INSERT INTO sys_store (one, store_id) VALUES (1, lower(hex(randomblob(16))));

-- The latest time that this store has seen. Where the time is the host's, also how long that host had been up then:
-- so a clock that jumps is noticed.
CREATE TABLE sys_clock (
    one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    seen_at INTEGER NOT NULL,
    boot    TEXT    NOT NULL, -- which start of which host; '': the time is a server's
    up_us   INTEGER NOT NULL  -- how long it had been up
) STRICT;

-- ---- triggers ----

CREATE TABLE ing_schedule_instance (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    scheduler_code      TEXT    NOT NULL CHECK (scheduler_code <> ''),
    scheduler_job_id    TEXT    NOT NULL,
    scheduler_log_id    TEXT    NOT NULL,
    trigger_type_code   TEXT    NOT NULL
        CHECK (trigger_type_code IN ('SCHEDULE', 'MANUAL', 'API', 'SIGNAL')),
    provenance_code     TEXT    NOT NULL CHECK (provenance_code <> ''),
    endpoint_name       TEXT    NOT NULL,
    operation_code      TEXT    NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    trigger_params      TEXT    NOT NULL CHECK (json_valid(trigger_params)),
    expr_proto_hash     TEXT    NOT NULL, -- '' until the source is compiled
    record_remarks      TEXT    NOT NULL CHECK (json_valid(record_remarks)),
    triggered_at        INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_sched_src
    ON ing_schedule_instance (scheduler_code, scheduler_job_id, scheduler_log_id);
CREATE INDEX idx_sched_time
    ON ing_schedule_instance (provenance_code, operation_code, triggered_at);

-- One row per tick of a schedule that was fired: the server that inserts the row fires the tick.
CREATE TABLE ing_schedule_tick (
    provenance_code TEXT    NOT NULL CHECK (provenance_code <> ''),
    schedule_name   TEXT    NOT NULL CHECK (schedule_name <> ''),
    tick_at         INTEGER NOT NULL,
    claimed_by      TEXT    NOT NULL,
    claimed_at      INTEGER NOT NULL,
    PRIMARY KEY (provenance_code, schedule_name, tick_at)
) STRICT, WITHOUT ROWID;

-- ---- plans ----

CREATE TABLE ing_plan (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    schedule_instance_id INTEGER NOT NULL REFERENCES ing_schedule_instance,
    provenance_code      TEXT    NOT NULL CHECK (provenance_code <> ''),
    endpoint_name        TEXT    NOT NULL CHECK (endpoint_name <> ''),
    operation_code       TEXT    NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    cursor_key           TEXT    NOT NULL,
    namespace_scope_code TEXT    NOT NULL
        CHECK (namespace_scope_code IN ('GLOBAL', 'EXPR', 'CUSTOM')),
    namespace_key        TEXT    NOT NULL,
    window_from          INTEGER, -- both NULL: the window is empty, record_remarks says why
    window_to            INTEGER,
    expr_proto_hash      TEXT    NOT NULL,
    expr_proto_snapshot  TEXT    NOT NULL CHECK (json_valid(expr_proto_snapshot)),
    spec_fingerprint     TEXT    NOT NULL,
    status_code          TEXT    NOT NULL
        CHECK (status_code IN ('DRAFT', 'SLICING', 'READY', 'PARTIAL', 'FAILED', 'CANCELLED')),
    record_remarks       TEXT    NOT NULL CHECK (json_valid(record_remarks)),
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    CONSTRAINT ck_plan_window CHECK
        ((window_from IS NULL) = (window_to IS NULL)
        AND (window_from IS NULL OR window_from < window_to))
) STRICT;

CREATE INDEX idx_plan_src_op_time ON ing_plan (provenance_code, operation_code, created_at);
CREATE INDEX idx_plan_sched ON ing_plan (schedule_instance_id);
-- Which plans hold an instant.
CREATE INDEX idx_plan_window ON ing_plan (provenance_code, endpoint_name, window_to, window_from)
    WHERE window_to IS NOT NULL;

-- Slices and tasks are inserted by the thousand. Their words are checked with OR: for an IN of more
-- than two words, SQLite builds a table in every statement and looks the word up for every row.
CREATE TABLE ing_plan_slice (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    plan_id              INTEGER NOT NULL REFERENCES ing_plan,
    parent_slice_id      INTEGER REFERENCES ing_plan_slice, -- the slice whose rest this is
    provenance_code      TEXT    NOT NULL,
    slice_no             INTEGER NOT NULL CHECK (slice_no >= 1),
    dimension_code       TEXT    NOT NULL
        CHECK (dimension_code = 'TIME' OR dimension_code = 'PAGE' OR dimension_code = 'ID'
            OR dimension_code = 'FEED' OR dimension_code = 'FILE'),
    window_from          INTEGER, -- the slice's own window: what its success covers
    window_to            INTEGER,
    slice_spec           TEXT    NOT NULL CHECK (json_valid(slice_spec)),
    slice_signature_hash TEXT    NOT NULL,
    expr_hash            TEXT    NOT NULL,
    expr_snapshot        TEXT    NOT NULL CHECK (json_valid(expr_snapshot)),
    status_code          TEXT    NOT NULL
        CHECK (status_code = 'PENDING' OR status_code = 'READY'
            OR status_code = 'SUCCEEDED' OR status_code = 'PARTIAL'
            OR status_code = 'FAILED' OR status_code = 'CANCELLED'),
    -- of a slice that is not a piece of another: what it and its pieces have spent and need
    family_requests      INTEGER NOT NULL DEFAULT 0 CHECK (family_requests >= 0),
    family_needed        INTEGER NOT NULL DEFAULT 0 CHECK (family_needed >= 0), -- pages
    family_done          INTEGER NOT NULL DEFAULT 0 CHECK (family_done >= 0),   -- pages
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    CONSTRAINT ck_slice_window CHECK
        ((window_from IS NULL) = (window_to IS NULL)
        AND (window_from IS NULL OR window_from < window_to))
) STRICT;

CREATE UNIQUE INDEX uk_slice_sig ON ing_plan_slice (plan_id, slice_signature_hash);
CREATE UNIQUE INDEX uk_slice_no ON ing_plan_slice (plan_id, slice_no);
-- No idx_slice_status (plan_id, status_code): slices are found by plan and number, and only cancelling a plan looks at
-- their status; it reads the plan's slices through uk_slice_no. The state of the work is that of the tasks (idx_task_plan).
CREATE INDEX idx_slice_parent ON ing_plan_slice (parent_slice_id) WHERE parent_slice_id IS NOT NULL;

-- ---- tasks ----

CREATE TABLE ing_task (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    schedule_instance_id INTEGER NOT NULL REFERENCES ing_schedule_instance,
    plan_id              INTEGER NOT NULL REFERENCES ing_plan,
    slice_id             INTEGER NOT NULL REFERENCES ing_plan_slice,
    provenance_code      TEXT    NOT NULL CHECK (provenance_code <> ''),
    endpoint_name        TEXT    NOT NULL CHECK (endpoint_name <> ''),
    operation_code       TEXT    NOT NULL
        CHECK (operation_code = 'HARVEST' OR operation_code = 'BACKFILL'
            OR operation_code = 'UPDATE' OR operation_code = 'METRICS'
            OR operation_code = 'REPLAY'),
    credential_id        TEXT    NOT NULL, -- the credential's row key; '' = none
    cursor_key           TEXT    NOT NULL,
    namespace_scope_code TEXT    NOT NULL
        CHECK (namespace_scope_code = 'GLOBAL' OR namespace_scope_code = 'EXPR'
            OR namespace_scope_code = 'CUSTOM'),
    namespace_key        TEXT    NOT NULL,
    window_from          INTEGER, -- as its slice; NULL if success covers no instants
    window_to            INTEGER,
    covered_from         INTEGER, -- PARTIAL: the part of the window that was finished
    covered_to           INTEGER,
    ids_from             INTEGER, -- only the records of its window with ids in [from, to);
    ids_to               INTEGER, -- NULL: all. Open ends are the smallest and the largest bigint.
    reset_at             INTEGER, -- when its cursor was set back before it: it covers nothing since
    params               TEXT    NOT NULL CHECK (json_valid(params)),
    expr_hash            TEXT    NOT NULL,
    idempotent_key       TEXT    NOT NULL,
    status_code          TEXT    NOT NULL
        CHECK (status_code = 'QUEUED' OR status_code = 'DISPATCHED'
            OR status_code = 'EXECUTING' OR status_code = 'SUCCEEDED'
            OR status_code = 'PARTIAL' OR status_code = 'FAILED'
            OR status_code = 'CANCELLED'),
    partial_reason_code  TEXT    CHECK (partial_reason_code IN
            ('HOLES', 'CUT_SHORT', 'DEAD_END', 'OVER_BUDGET', 'CRASHED')),
    priority             INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 1000), -- smaller numbers run first
    scheduled_at         INTEGER NOT NULL,
    lease_owner          TEXT,
    leased_until         INTEGER,
    lease_count          INTEGER NOT NULL DEFAULT 0 CHECK (lease_count >= 0),
    -- +1 per claim; every write of a run checks it
    lease_epoch          INTEGER NOT NULL DEFAULT 0 CHECK (lease_epoch >= 0),
    attempt_count        INTEGER NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
    crash_count          INTEGER NOT NULL DEFAULT 0 CHECK (crash_count >= 0), -- leases that ran out in a row, without a batch between
    cancel_reason        TEXT, -- a person has cancelled it; NULL: no. Its worker stops after its batch
    last_error           TEXT    NOT NULL DEFAULT '',
    started_at           INTEGER,
    finished_at          INTEGER,
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    CONSTRAINT ck_task_window CHECK
        ((window_from IS NULL) = (window_to IS NULL)
        AND (window_from IS NULL OR window_from < window_to)),
    CONSTRAINT ck_task_covered CHECK
        ((covered_from IS NULL) = (covered_to IS NULL)
        AND (covered_from IS NULL OR (covered_from < covered_to AND window_from IS NOT NULL
        AND window_from <= covered_from AND covered_to <= window_to))),
    CONSTRAINT ck_task_ids CHECK
        ((ids_from IS NULL) = (ids_to IS NULL)
        AND (ids_from IS NULL OR (ids_from < ids_to AND window_from IS NOT NULL))),
    CONSTRAINT ck_task_lease CHECK ((lease_owner IS NULL) = (leased_until IS NULL)),
    CONSTRAINT ck_task_live_lease CHECK
        (lease_owner IS NOT NULL OR status_code NOT IN ('DISPATCHED', 'EXECUTING'))
) STRICT;

-- No idx_task_src_op (provenance_code, operation_code): what looks for tasks of a source and an operation also names the
-- endpoint, and wants live tasks (idx_task_queue, idx_task_lease) or a namespace (idx_task_coverage, idx_task_feed), whose
-- indexes are narrower. Both planners leave it unused for every statement but one: SQLite would take it for a cursor reset,
-- which a person makes now and then. Each of them would be written with every task or slice.
CREATE UNIQUE INDEX uk_task_idem ON ing_task (idempotent_key);
-- The queue. It holds only live tasks, so its size is that of the backlog, not of the history.
CREATE INDEX idx_task_queue
    ON ing_task (provenance_code, endpoint_name, operation_code, priority, scheduled_at, id)
    WHERE status_code = 'QUEUED';
CREATE INDEX idx_task_pick ON ing_task (priority, scheduled_at, id) WHERE status_code = 'QUEUED';
CREATE INDEX idx_task_lease ON ing_task (leased_until)
    WHERE status_code IN ('DISPATCHED', 'EXECUTING');
-- cursor_key and the scope follow from the rest, unless the source was changed.
CREATE INDEX idx_task_coverage
    ON ing_task (provenance_code, endpoint_name, operation_code, namespace_key, window_to, window_from)
    WHERE window_to IS NOT NULL;
-- The newest task of a feed: how far it came.
CREATE INDEX idx_task_feed
    ON ing_task (provenance_code, endpoint_name, operation_code, namespace_key, id)
    WHERE window_to IS NULL AND cursor_key <> '';
-- what was left to a person, whenever that was
CREATE INDEX idx_task_held ON ing_task (provenance_code)
    WHERE partial_reason_code IN ('DEAD_END', 'OVER_BUDGET', 'CRASHED');
-- A task cancelled in the queue may have no run.
CREATE INDEX idx_task_cancelled ON ing_task (provenance_code, finished_at)
    WHERE status_code = 'CANCELLED';
CREATE INDEX idx_task_slice ON ing_task (slice_id);
CREATE INDEX idx_task_plan ON ing_task (plan_id, status_code);
CREATE INDEX idx_task_cred ON ing_task (credential_id) WHERE credential_id <> '';

-- Requests of executors to the planner: re-slice the rest of this slice.
CREATE TABLE ing_reslice_request (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id        INTEGER NOT NULL REFERENCES ing_task,
    slice_id       INTEGER NOT NULL REFERENCES ing_plan_slice,
    reason_code    TEXT    NOT NULL
        CHECK (reason_code IN ('TOO_DEEP', 'TOO_MANY_429', 'OVER_CAP', 'OVERSIZED', 'SLOW')),
    remaining_from INTEGER, -- of the slice's window; NULL for slices without one
    remaining_to   INTEGER,
    detail         TEXT    NOT NULL CHECK (json_valid(detail)),
    created_at     INTEGER NOT NULL,
    claimed_by     TEXT,
    claimed_at     INTEGER,
    CONSTRAINT ck_reslice_window CHECK
        ((remaining_from IS NULL) = (remaining_to IS NULL)
        AND (remaining_from IS NULL OR remaining_from < remaining_to)),
    CONSTRAINT ck_reslice_claim CHECK ((claimed_by IS NULL) = (claimed_at IS NULL))
) STRICT;

CREATE UNIQUE INDEX uk_reslice_task ON ing_reslice_request (task_id); -- one request per task
CREATE INDEX idx_reslice_open ON ing_reslice_request (id) WHERE claimed_at IS NULL;

-- ---- runs and batches ----

CREATE TABLE ing_task_run (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id              INTEGER NOT NULL REFERENCES ing_task,
    attempt_no           INTEGER NOT NULL CHECK (attempt_no >= 1),
    provenance_code      TEXT    NOT NULL,
    operation_code       TEXT    NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    lease_owner          TEXT    NOT NULL,
    lease_epoch          INTEGER NOT NULL,
    status_code          TEXT    NOT NULL
        CHECK (status_code IN ('PLANNED', 'RUNNING', 'SUCCEEDED', 'PARTIAL', 'FAILED',
            'CANCELLED')),
    partial_reason_code  TEXT    CHECK (partial_reason_code IN
            ('HOLES', 'CUT_SHORT', 'DEAD_END', 'OVER_BUDGET', 'CRASHED')),
    window_from          INTEGER,
    window_to            INTEGER,
    checkpoint           TEXT    CHECK (checkpoint IS NULL OR json_valid(checkpoint)),
    stats                TEXT    NOT NULL CHECK (json_valid(stats)),
    error                TEXT    NOT NULL,
    observed_max         INTEGER, -- the latest updated_at of its records, if they have any
    started_at           INTEGER NOT NULL,
    finished_at          INTEGER,
    updated_at           INTEGER NOT NULL,
    CONSTRAINT ck_run_window CHECK
        ((window_from IS NULL) = (window_to IS NULL)
        AND (window_from IS NULL OR window_from < window_to))
) STRICT;

CREATE UNIQUE INDEX uk_run_attempt ON ing_task_run (task_id, attempt_no);
CREATE INDEX idx_run_task_status ON ing_task_run (task_id, status_code, started_at);
CREATE INDEX idx_run_src_op ON ing_task_run (provenance_code, operation_code, started_at);

CREATE TABLE ing_task_run_batch (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id          INTEGER NOT NULL REFERENCES ing_task_run,
    task_id         INTEGER NOT NULL,
    slice_id        INTEGER NOT NULL,
    plan_id         INTEGER NOT NULL,
    batch_no        INTEGER NOT NULL CHECK (batch_no >= 1),
    page_no         INTEGER,
    page_size       INTEGER,
    before_token    BLOB, -- the token or URL this batch was requested with, opaque bytes
    after_token     BLOB, -- and the one to continue with
    expr_hash       TEXT    NOT NULL,
    idempotent_key  TEXT    NOT NULL,
    status_code     TEXT    NOT NULL
        CHECK (status_code IN ('PLANNED', 'RUNNING', 'SUCCEEDED', 'SKIPPED', 'FAILED')),
    request_digest  TEXT    NOT NULL CHECK (json_valid(request_digest)),
    response_digest TEXT    NOT NULL CHECK (json_valid(response_digest)),
    stats           TEXT    NOT NULL CHECK (json_valid(stats)),
    has_next        INTEGER NOT NULL CHECK (has_next IN (0, 1)),
    created_at      INTEGER NOT NULL,
    -- The black box. Last, because lists of batches do not read them.
    body_hash       TEXT CHECK (length(body_hash) = 64), -- of the archived response
    request_input   TEXT CHECK (request_input IS NULL OR json_valid(request_input)), -- what the request was made of
    items           BLOB -- what became of each item (core/batch_items.h)
) STRICT;
-- Batches whose response is in the archive.
CREATE INDEX idx_batch_body ON ing_task_run_batch (id) WHERE body_hash IS NOT NULL;

CREATE UNIQUE INDEX uk_run_batch_no ON ing_task_run_batch (run_id, batch_no);
CREATE UNIQUE INDEX uk_run_before_tok ON ing_task_run_batch (run_id, before_token)
    WHERE before_token IS NOT NULL;
CREATE UNIQUE INDEX uk_batch_idem ON ing_task_run_batch (idempotent_key);
CREATE INDEX idx_batch_time ON ing_task_run_batch (run_id, created_at);
CREATE INDEX idx_batch_status ON ing_task_run_batch (run_id, status_code);
CREATE INDEX idx_batch_task ON ing_task_run_batch (task_id, id);

-- ---- cursors ----

CREATE TABLE ing_cursor (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    provenance_code      TEXT    NOT NULL CHECK (provenance_code <> ''),
    operation_code       TEXT    NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    cursor_key           TEXT    NOT NULL CHECK (cursor_key <> ''),
    namespace_scope_code TEXT    NOT NULL
        CHECK (namespace_scope_code IN ('GLOBAL', 'EXPR', 'CUSTOM')),
    namespace_key        TEXT    NOT NULL,
    cursor_type_code     TEXT    NOT NULL CHECK (cursor_type_code IN ('TIME', 'ID', 'TOKEN')),
    cursor_value         TEXT    NOT NULL CHECK (length(cursor_value) <= 1024),
    observed_max_value   TEXT    CHECK (length(observed_max_value) <= 1024),
    normalized_instant   INTEGER,
    -- decimal with leading zeros: orders as text
    normalized_numeric   TEXT CHECK (length(normalized_numeric) = 38),
    schedule_instance_id INTEGER,
    plan_id              INTEGER,
    slice_id             INTEGER,
    task_id              INTEGER,
    run_id               INTEGER,
    batch_id             INTEGER,
    expr_hash            TEXT    NOT NULL,
    version              INTEGER NOT NULL CHECK (version >= 1),
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    CONSTRAINT ck_cursor_value CHECK
        ((cursor_type_code = 'TIME') = (normalized_instant IS NOT NULL)
        AND (cursor_type_code = 'ID') = (normalized_numeric IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX uk_cursor_ns
    ON ing_cursor (provenance_code, operation_code, cursor_key, namespace_scope_code,
        namespace_key);
CREATE INDEX idx_cursor_sort_time
    ON ing_cursor (provenance_code, operation_code, normalized_instant);
CREATE INDEX idx_cursor_sort_id ON ing_cursor (provenance_code, operation_code, normalized_numeric);
CREATE INDEX idx_cursor_lineage ON ing_cursor (task_id, run_id);

CREATE TABLE ing_cursor_event (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    provenance_code      TEXT    NOT NULL,
    operation_code       TEXT    NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    cursor_key           TEXT    NOT NULL,
    namespace_scope_code TEXT    NOT NULL
        CHECK (namespace_scope_code IN ('GLOBAL', 'EXPR', 'CUSTOM')),
    namespace_key        TEXT    NOT NULL,
    cursor_type_code     TEXT    NOT NULL CHECK (cursor_type_code IN ('TIME', 'ID', 'TOKEN')),
    direction_code       TEXT    NOT NULL CHECK (direction_code IN ('FORWARD', 'BACKFILL')),
    reason_code          TEXT    NOT NULL
        CHECK (reason_code IN ('ADVANCE', 'NO_FORWARD', 'TOKEN_COMPENSATE', 'RESET')),
    prev_value           TEXT, -- NULL: the first
    new_value            TEXT    NOT NULL,
    prev_instant         INTEGER,
    new_instant          INTEGER,
    prev_numeric         TEXT,
    new_numeric          TEXT,
    window_from          INTEGER,
    window_to            INTEGER,
    observed_max_value   TEXT,
    idempotent_key       TEXT    NOT NULL,
    schedule_instance_id INTEGER,
    plan_id              INTEGER,
    slice_id             INTEGER,
    task_id              INTEGER,
    run_id               INTEGER,
    batch_id             INTEGER,
    expr_hash            TEXT    NOT NULL,
    record_remarks       TEXT    NOT NULL CHECK (json_valid(record_remarks)),
    created_at           INTEGER NOT NULL,
    CONSTRAINT ck_cur_evt_window CHECK
        ((window_from IS NULL) = (window_to IS NULL)
        AND (window_from IS NULL OR window_from < window_to))
) STRICT;

CREATE UNIQUE INDEX uk_cur_evt_idem ON ing_cursor_event (idempotent_key);
CREATE INDEX idx_cur_evt_timeline
    ON ing_cursor_event (provenance_code, operation_code, cursor_key, namespace_scope_code,
        namespace_key, id);
CREATE INDEX idx_cur_evt_instant ON ing_cursor_event (provenance_code, operation_code, new_instant);
CREATE INDEX idx_cur_evt_numeric ON ing_cursor_event (provenance_code, operation_code, new_numeric);
CREATE INDEX idx_cur_evt_window
    ON ing_cursor_event (provenance_code, operation_code, window_from, window_to);
CREATE INDEX idx_cur_evt_lineage
    ON ing_cursor_event (schedule_instance_id, plan_id, slice_id, task_id, run_id);

-- Cursor events are append-only.
CREATE TRIGGER ing_cursor_event_kept BEFORE UPDATE ON ing_cursor_event
BEGIN
    SELECT RAISE(ABORT, 'ing_cursor_event is append-only');
END;

-- ---- pauses ----

-- A row is in force until it is deleted; endpoint_name '' is the whole source.
CREATE TABLE ing_pause (
    provenance_code TEXT    NOT NULL CHECK (provenance_code <> ''),
    endpoint_name   TEXT    NOT NULL,
    -- by a person; by an L4 error
    kind_code       TEXT    NOT NULL CHECK (kind_code IN ('PAUSED', 'STOPPED')),
    reason          TEXT    NOT NULL,
    created_by      TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (provenance_code, endpoint_name, kind_code)
) STRICT, WITHOUT ROWID;
