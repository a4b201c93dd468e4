-- The dictionaries, the path of the work (trigger -> plan -> slice -> task -> run -> batch), and its
-- progress: cursors and their events.
--
-- Windows are half-open [from, to). JSON that is hashed (snapshots, slice_spec, params) or may
-- contain any byte of a token (checkpoint) is stored as text, unchanged; the rest is jsonb. The
-- check casts to json, because jsonb refuses \u0000.
-- The words of a code column are in the dictionary that core/codes.h names.

-- ---- dictionaries ----

CREATE TABLE sys_dict_type (
    type_code text NOT NULL PRIMARY KEY CHECK (type_code <> ''),
    meaning   text NOT NULL
);

CREATE TABLE sys_dict_item (
    type_code text    NOT NULL REFERENCES sys_dict_type,
    item_code text    NOT NULL CHECK (item_code <> ''),
    position  integer NOT NULL CHECK (position >= 0),
    meaning   text    NOT NULL,
    PRIMARY KEY (type_code, item_code)
);

CREATE UNIQUE INDEX uk_dict_position ON sys_dict_item (type_code, position);

-- ---- the store itself ----

-- Which store this is: tokens of exports name it, so that one of another store is refused.
CREATE TABLE sys_store (
    one      integer NOT NULL PRIMARY KEY CHECK (one = 1),
    store_id text    NOT NULL CHECK (length(store_id) = 32)
);

INSERT INTO sys_store (one, store_id) VALUES (1, replace(gen_random_uuid()::text, '-', ''));

-- The latest time that this store has seen. Where the time is the host's, also how long that host had been up then:
-- so a clock that jumps is noticed.
CREATE TABLE sys_clock (
    one     smallint    NOT NULL PRIMARY KEY CHECK (one = 1),
    seen_at timestamptz NOT NULL,
    boot    text        NOT NULL, -- which start of which host; '': the time is a server's
    up_us   bigint      NOT NULL  -- how long it had been up
);

-- ---- triggers ----

CREATE TABLE ing_schedule_instance (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scheduler_code    text        NOT NULL CHECK (scheduler_code <> ''),
    scheduler_job_id  text        NOT NULL,
    scheduler_log_id  text        NOT NULL,
    trigger_type_code text        NOT NULL
        CHECK (trigger_type_code IN ('SCHEDULE', 'MANUAL', 'API', 'SIGNAL')),
    provenance_code   text        NOT NULL CHECK (provenance_code <> ''),
    endpoint_name     text        NOT NULL,
    operation_code    text        NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    trigger_params    jsonb       NOT NULL,
    expr_proto_hash   text        NOT NULL, -- '' until the source is compiled
    record_remarks    jsonb       NOT NULL,
    triggered_at      timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL
);

CREATE INDEX idx_sched_src
    ON ing_schedule_instance (scheduler_code, scheduler_job_id, scheduler_log_id);
CREATE INDEX idx_sched_time
    ON ing_schedule_instance (provenance_code, operation_code, triggered_at);

-- One row per tick of a schedule that was fired: the server that inserts the row fires the tick.
CREATE TABLE ing_schedule_tick (
    provenance_code text        NOT NULL CHECK (provenance_code <> ''),
    schedule_name   text        NOT NULL CHECK (schedule_name <> ''),
    tick_at         timestamptz NOT NULL,
    claimed_by      text        NOT NULL,
    claimed_at      timestamptz NOT NULL,
    PRIMARY KEY (provenance_code, schedule_name, tick_at)
);

-- ---- plans ----

CREATE TABLE ing_plan (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    schedule_instance_id bigint      NOT NULL REFERENCES ing_schedule_instance,
    provenance_code      text        NOT NULL CHECK (provenance_code <> ''),
    endpoint_name        text        NOT NULL CHECK (endpoint_name <> ''),
    operation_code       text        NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    cursor_key           text        NOT NULL,
    namespace_scope_code text        NOT NULL
        CHECK (namespace_scope_code IN ('GLOBAL', 'EXPR', 'CUSTOM')),
    namespace_key        text        NOT NULL,
    -- both NULL: the window is empty, record_remarks says why
    window_from          timestamptz,
    window_to            timestamptz,
    expr_proto_hash      text        NOT NULL,
    expr_proto_snapshot  text        NOT NULL CHECK (expr_proto_snapshot::json IS NOT NULL),
    spec_fingerprint     text        NOT NULL,
    status_code          text        NOT NULL
        CHECK (status_code IN ('DRAFT', 'SLICING', 'READY', 'PARTIAL', 'FAILED', 'CANCELLED')),
    record_remarks       jsonb       NOT NULL,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    CONSTRAINT ck_plan_window CHECK
        ((window_from IS NULL) = (window_to IS NULL)
        AND (window_from IS NULL OR window_from < window_to))
);

CREATE INDEX idx_plan_src_op_time ON ing_plan (provenance_code, operation_code, created_at);
CREATE INDEX idx_plan_sched ON ing_plan (schedule_instance_id);
-- Which plans hold an instant.
CREATE INDEX idx_plan_window ON ing_plan (provenance_code, endpoint_name, window_to, window_from)
    WHERE window_to IS NOT NULL;

CREATE TABLE ing_plan_slice (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    plan_id              bigint      NOT NULL REFERENCES ing_plan,
    parent_slice_id      bigint      REFERENCES ing_plan_slice, -- the slice whose rest this is
    provenance_code      text        NOT NULL,
    slice_no             integer     NOT NULL CHECK (slice_no >= 1),
    dimension_code       text        NOT NULL CHECK (dimension_code IN ('TIME', 'PAGE', 'ID', 'FEED', 'FILE')),
    window_from          timestamptz, -- the slice's own window: what its success covers
    window_to            timestamptz,
    slice_spec           text        NOT NULL CHECK (slice_spec::json IS NOT NULL),
    slice_signature_hash text        COLLATE "C" NOT NULL,
    expr_hash            text        NOT NULL,
    expr_snapshot        text        NOT NULL CHECK (expr_snapshot::json IS NOT NULL),
    status_code          text        NOT NULL
        CHECK (status_code IN ('PENDING', 'READY', 'SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELLED')),
    -- of a slice that is not a piece of another: what it and its pieces have spent and need
    family_requests      bigint  NOT NULL DEFAULT 0 CHECK (family_requests >= 0),
    family_needed        bigint  NOT NULL DEFAULT 0 CHECK (family_needed >= 0), -- pages
    family_done          bigint  NOT NULL DEFAULT 0 CHECK (family_done >= 0),   -- pages
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    CONSTRAINT ck_slice_window CHECK
        ((window_from IS NULL) = (window_to IS NULL)
        AND (window_from IS NULL OR window_from < window_to))
);

CREATE UNIQUE INDEX uk_slice_sig ON ing_plan_slice (plan_id, slice_signature_hash);
CREATE UNIQUE INDEX uk_slice_no ON ing_plan_slice (plan_id, slice_no);
-- No idx_slice_status (plan_id, status_code): slices are found by plan and number, and only cancelling a plan looks at
-- their status; it reads the plan's slices through uk_slice_no. The state of the work is that of the tasks (idx_task_plan).
CREATE INDEX idx_slice_parent ON ing_plan_slice (parent_slice_id) WHERE parent_slice_id IS NOT NULL;

-- ---- tasks ----

CREATE TABLE ing_task (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- No REFERENCES here: the slice has them. Checking them again for each task would make
    -- planning slower by a tenth.
    schedule_instance_id bigint      NOT NULL,
    plan_id              bigint      NOT NULL,
    slice_id             bigint      NOT NULL REFERENCES ing_plan_slice,
    provenance_code      text        NOT NULL CHECK (provenance_code <> ''),
    endpoint_name        text        NOT NULL CHECK (endpoint_name <> ''),
    operation_code       text        NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    credential_id        text        NOT NULL, -- the credential's row key; '' = none
    cursor_key           text        NOT NULL,
    namespace_scope_code text        NOT NULL
        CHECK (namespace_scope_code IN ('GLOBAL', 'EXPR', 'CUSTOM')),
    namespace_key        text        NOT NULL,
    window_from          timestamptz, -- as its slice; NULL if success covers no instants
    window_to            timestamptz,
    covered_from         timestamptz, -- PARTIAL: the part of the window that was finished
    covered_to           timestamptz,
    ids_from             bigint,      -- only the records of its window with ids in [from, to);
    ids_to               bigint,      -- NULL: all. Open ends are the smallest and the largest bigint.
    reset_at             timestamptz, -- when its cursor was set back before it: it covers nothing since
    params               text        NOT NULL CHECK (params::json IS NOT NULL),
    expr_hash            text        NOT NULL,
    idempotent_key       text        COLLATE "C" NOT NULL,
    status_code          text        NOT NULL
        CHECK (status_code IN ('QUEUED', 'DISPATCHED', 'EXECUTING', 'SUCCEEDED', 'PARTIAL',
            'FAILED', 'CANCELLED')),
    partial_reason_code  text        CHECK (partial_reason_code IN
            ('HOLES', 'CUT_SHORT', 'DEAD_END', 'OVER_BUDGET', 'CRASHED')),
    -- smaller numbers run first
    priority             integer     NOT NULL CHECK (priority BETWEEN 0 AND 1000),
    scheduled_at         timestamptz NOT NULL,
    lease_owner          text,
    leased_until         timestamptz,
    lease_count          integer     NOT NULL DEFAULT 0 CHECK (lease_count >= 0),
    -- +1 per claim; every write of a run checks it
    lease_epoch          bigint      NOT NULL DEFAULT 0 CHECK (lease_epoch >= 0),
    attempt_count        integer     NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
    crash_count          integer     NOT NULL DEFAULT 0 CHECK (crash_count >= 0), -- leases that ran out in a row, without a batch between
    cancel_reason        text, -- a person has cancelled it; NULL: no. Its worker stops after its batch
    last_error           text        NOT NULL DEFAULT '',
    started_at           timestamptz,
    finished_at          timestamptz,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
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
);

-- Every state change rewrites a row: leave room for it on its page, and vacuum early.
ALTER TABLE ing_task SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

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
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id        bigint      NOT NULL REFERENCES ing_task,
    slice_id       bigint      NOT NULL REFERENCES ing_plan_slice,
    reason_code    text        NOT NULL
        CHECK (reason_code IN ('TOO_DEEP', 'TOO_MANY_429', 'OVER_CAP', 'OVERSIZED', 'SLOW')),
    remaining_from timestamptz, -- of the slice's window; NULL for slices without one
    remaining_to   timestamptz,
    detail         jsonb       NOT NULL,
    created_at     timestamptz NOT NULL,
    claimed_by     text,
    claimed_at     timestamptz,
    CONSTRAINT ck_reslice_window CHECK
        ((remaining_from IS NULL) = (remaining_to IS NULL)
        AND (remaining_from IS NULL OR remaining_from < remaining_to)),
    CONSTRAINT ck_reslice_claim CHECK ((claimed_by IS NULL) = (claimed_at IS NULL))
);

CREATE UNIQUE INDEX uk_reslice_task ON ing_reslice_request (task_id); -- one request per task
CREATE INDEX idx_reslice_open ON ing_reslice_request (id) WHERE claimed_at IS NULL;

-- ---- runs and batches ----

CREATE TABLE ing_task_run (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id             bigint      NOT NULL REFERENCES ing_task,
    attempt_no          integer     NOT NULL CHECK (attempt_no >= 1),
    provenance_code     text        NOT NULL,
    operation_code      text        NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    lease_owner         text        NOT NULL,
    lease_epoch         bigint      NOT NULL,
    status_code         text        NOT NULL
        CHECK (status_code IN ('PLANNED', 'RUNNING', 'SUCCEEDED', 'PARTIAL', 'FAILED',
            'CANCELLED')),
    partial_reason_code text        CHECK (partial_reason_code IN
            ('HOLES', 'CUT_SHORT', 'DEAD_END', 'OVER_BUDGET', 'CRASHED')),
    window_from         timestamptz,
    window_to           timestamptz,
    checkpoint          text        CHECK (checkpoint IS NULL OR checkpoint::json IS NOT NULL),
    stats               jsonb       NOT NULL,
    error               text        NOT NULL,
    observed_max        timestamptz, -- the latest updated_at of its records, if they have any
    started_at          timestamptz NOT NULL,
    finished_at         timestamptz,
    updated_at          timestamptz NOT NULL,
    CONSTRAINT ck_run_window CHECK
        ((window_from IS NULL) = (window_to IS NULL)
        AND (window_from IS NULL OR window_from < window_to))
);

CREATE UNIQUE INDEX uk_run_attempt ON ing_task_run (task_id, attempt_no);
CREATE INDEX idx_run_task_status ON ing_task_run (task_id, status_code, started_at);
CREATE INDEX idx_run_src_op ON ing_task_run (provenance_code, operation_code, started_at);

CREATE TABLE ing_task_run_batch (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id          bigint      NOT NULL REFERENCES ing_task_run,
    task_id         bigint      NOT NULL,
    slice_id        bigint      NOT NULL,
    plan_id         bigint      NOT NULL,
    batch_no        integer     NOT NULL CHECK (batch_no >= 1),
    page_no         integer,
    page_size       integer,
    before_token    bytea, -- the token or URL this batch was requested with, opaque bytes
    after_token     bytea, -- and the one to continue with
    expr_hash       text        NOT NULL,
    idempotent_key  text        NOT NULL,
    status_code     text        NOT NULL
        CHECK (status_code IN ('PLANNED', 'RUNNING', 'SUCCEEDED', 'SKIPPED', 'FAILED')),
    request_digest  jsonb       NOT NULL,
    response_digest jsonb       NOT NULL,
    stats           jsonb       NOT NULL,
    has_next        boolean     NOT NULL,
    created_at      timestamptz NOT NULL,
    -- The black box. Last, because lists of batches do not read them.
    body_hash       text CHECK (length(body_hash) = 64), -- of the archived response
    request_input   text, -- JSON: what the request was made of
    items           bytea -- what became of each item (core/batch_items.h)
);
-- Batches whose response is in the archive.
CREATE INDEX idx_batch_body ON ing_task_run_batch (id) WHERE body_hash IS NOT NULL;

CREATE UNIQUE INDEX uk_run_batch_no ON ing_task_run_batch (run_id, batch_no);
-- By its hash: tokens may be longer than a third of a page, the maximum of a B-tree.
CREATE UNIQUE INDEX uk_run_before_tok ON ing_task_run_batch (run_id, sha256(before_token))
    WHERE before_token IS NOT NULL;
CREATE UNIQUE INDEX uk_batch_idem ON ing_task_run_batch (idempotent_key);
CREATE INDEX idx_batch_time ON ing_task_run_batch (run_id, created_at);
CREATE INDEX idx_batch_status ON ing_task_run_batch (run_id, status_code);
CREATE INDEX idx_batch_task ON ing_task_run_batch (task_id, id);

-- ---- cursors ----

CREATE TABLE ing_cursor (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code      text           NOT NULL CHECK (provenance_code <> ''),
    operation_code       text           NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    cursor_key           text           NOT NULL CHECK (cursor_key <> ''),
    namespace_scope_code text           NOT NULL
        CHECK (namespace_scope_code IN ('GLOBAL', 'EXPR', 'CUSTOM')),
    namespace_key        text           NOT NULL,
    cursor_type_code     text           NOT NULL
        CHECK (cursor_type_code IN ('TIME', 'ID', 'TOKEN')),
    cursor_value         text           NOT NULL CHECK (length(cursor_value) <= 1024),
    observed_max_value   text           CHECK (length(observed_max_value) <= 1024),
    normalized_instant   timestamptz,
    normalized_numeric   numeric(38, 0),
    schedule_instance_id bigint,
    plan_id              bigint,
    slice_id             bigint,
    task_id              bigint,
    run_id               bigint,
    batch_id             bigint,
    expr_hash            text           NOT NULL,
    version              bigint         NOT NULL CHECK (version >= 1),
    created_at           timestamptz    NOT NULL,
    updated_at           timestamptz    NOT NULL,
    CONSTRAINT ck_cursor_value CHECK
        ((cursor_type_code = 'TIME') = (normalized_instant IS NOT NULL)
        AND (cursor_type_code = 'ID') = (normalized_numeric IS NOT NULL))
);

CREATE UNIQUE INDEX uk_cursor_ns
    ON ing_cursor (provenance_code, operation_code, cursor_key, namespace_scope_code,
        namespace_key);
CREATE INDEX idx_cursor_sort_time
    ON ing_cursor (provenance_code, operation_code, normalized_instant);
CREATE INDEX idx_cursor_sort_id ON ing_cursor (provenance_code, operation_code, normalized_numeric);
CREATE INDEX idx_cursor_lineage ON ing_cursor (task_id, run_id);

CREATE TABLE ing_cursor_event (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code      text           NOT NULL,
    operation_code       text           NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    cursor_key           text           NOT NULL,
    namespace_scope_code text           NOT NULL
        CHECK (namespace_scope_code IN ('GLOBAL', 'EXPR', 'CUSTOM')),
    namespace_key        text           NOT NULL,
    cursor_type_code     text           NOT NULL
        CHECK (cursor_type_code IN ('TIME', 'ID', 'TOKEN')),
    direction_code       text           NOT NULL CHECK (direction_code IN ('FORWARD', 'BACKFILL')),
    reason_code          text           NOT NULL
        CHECK (reason_code IN ('ADVANCE', 'NO_FORWARD', 'TOKEN_COMPENSATE', 'RESET')),
    prev_value           text, -- NULL: the first
    new_value            text           NOT NULL,
    prev_instant         timestamptz,
    new_instant          timestamptz,
    prev_numeric         numeric(38, 0),
    new_numeric          numeric(38, 0),
    window_from          timestamptz,
    window_to            timestamptz,
    observed_max_value   text,
    idempotent_key       text           NOT NULL,
    schedule_instance_id bigint,
    plan_id              bigint,
    slice_id             bigint,
    task_id              bigint,
    run_id               bigint,
    batch_id             bigint,
    expr_hash            text           NOT NULL,
    record_remarks       jsonb          NOT NULL,
    created_at           timestamptz    NOT NULL,
    CONSTRAINT ck_cur_evt_window CHECK
        ((window_from IS NULL) = (window_to IS NULL)
        AND (window_from IS NULL OR window_from < window_to))
);

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
CREATE FUNCTION ing_cursor_event_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE integrity_constraint_violation USING MESSAGE = 'ing_cursor_event is append-only';
END;
$$;

CREATE TRIGGER ing_cursor_event_kept BEFORE UPDATE ON ing_cursor_event
    FOR EACH ROW EXECUTE FUNCTION ing_cursor_event_kept();

-- ---- pauses ----

-- A row is in force until it is deleted; endpoint_name '' is the whole source.
CREATE TABLE ing_pause (
    provenance_code text        NOT NULL CHECK (provenance_code <> ''),
    endpoint_name   text        NOT NULL,
    -- by a person; by an L4 error
    kind_code       text        NOT NULL CHECK (kind_code IN ('PAUSED', 'STOPPED')),
    reason          text        NOT NULL,
    created_by      text        NOT NULL,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (provenance_code, endpoint_name, kind_code)
);
