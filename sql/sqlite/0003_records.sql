-- What was received (records, quarantine, signals), and the rate gate (rate, slots, quota).

-- What many records have in common, once: a record's row and its indexes have numbers instead of texts. Rows are added with
-- the first record that needs them, and never changed or removed.
CREATE TABLE ing_record_endpoint (
    id              INTEGER NOT NULL PRIMARY KEY,
    provenance_code TEXT    NOT NULL CHECK (provenance_code <> ''),
    endpoint_name   TEXT    NOT NULL CHECK (endpoint_name <> ''),
    UNIQUE (provenance_code, endpoint_name)
) STRICT;

CREATE TABLE ing_record_expr (
    id        INTEGER NOT NULL PRIMARY KEY,
    expr_hash TEXT    NOT NULL UNIQUE -- of an expression (its prototype) that read records; '': patra removed them
) STRICT;

INSERT INTO ing_record_expr (expr_hash) VALUES (''); -- the first in every order

-- The state of a record. Its id is drawn before it is written: its content and its event have it too.
CREATE TABLE ing_record_state (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint_id      INTEGER NOT NULL, -- ing_record_endpoint
    expr_id          INTEGER NOT NULL, -- ing_record_expr: by what it was read
    batch_id         INTEGER, -- that brought it, and knows run, task, slice and plan; NULL: none did
    version          INTEGER NOT NULL CHECK (version >= 1), -- +1 per visible change
    deleted          INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    checked_week     INTEGER NOT NULL, -- of checked_at, from 1970 on: the form that is indexed, so that most checks write no index
    checked_at       INTEGER NOT NULL,
    observed_at      INTEGER NOT NULL, -- when the request was sent that brought or last confirmed it
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER, -- the source's own; NULL if it has none
    provider_version TEXT    NOT NULL DEFAULT '', -- the source's own; '' if it has none
    provider_id      TEXT    NOT NULL CHECK (length(provider_id) BETWEEN 1 AND 1024),
    content_hash     BLOB    NOT NULL CHECK (length(content_hash) IN (0, 32)) -- SHA-256; empty: patra removed it
) STRICT;

-- What was received, apart from the state: a look at a record that has not changed writes none of it.
-- A row is written with its record, in the same transaction, so there is no REFERENCES to check.
CREATE TABLE ing_record_content (
    record_id     INTEGER NOT NULL PRIMARY KEY,
    dictionary_id INTEGER, -- ing_archive_dictionary, whose rows are never removed: packed with it by zstd; NULL: as received
    payload       BLOB    NOT NULL
) STRICT;

-- The id first: it is nearly unique, so one comparison per step is enough.
CREATE UNIQUE INDEX uk_record_provider ON ing_record_state (provider_id, endpoint_id);
CREATE INDEX idx_record_checked ON ing_record_state (endpoint_id, checked_week, id) WHERE NOT deleted;
CREATE INDEX idx_record_expr ON ing_record_state (endpoint_id, expr_id, id) WHERE NOT deleted;
-- For reading: records of a source in the order in which they came, and their number. Two indexes that are partial so that
-- none is chosen to find a record by its id; a deletion moves a record from one to the other.
-- They end with `deleted`: SQLite looks at the condition of a partial index again, and would read the record's row to count it.
CREATE INDEX idx_record_live ON ing_record_state (endpoint_id, id, deleted) WHERE NOT deleted;
CREATE INDEX idx_record_deleted ON ing_record_state (endpoint_id, id, deleted) WHERE deleted;

-- The state of records in words, for people and tests.
CREATE VIEW ing_record AS
    SELECT r.id, e.provenance_code, e.endpoint_name, r.provider_id, r.updated_at, r.provider_version, r.version, r.deleted,
           lower(hex(r.content_hash)) AS content_hash, x.expr_hash, r.observed_at, r.checked_at, r.created_at,
           p.schedule_instance_id, b.plan_id, b.slice_id, b.task_id, b.run_id, r.batch_id
      FROM ing_record_state AS r
      JOIN ing_record_endpoint AS e ON e.id = r.endpoint_id
      JOIN ing_record_expr AS x ON x.id = r.expr_id
      LEFT JOIN ing_task_run_batch AS b ON b.id = r.batch_id
      LEFT JOIN ing_plan AS p ON p.id = b.plan_id;

-- The fields of a record for its endpoint's view, by the keys of core/record_view.h. They are apart
-- from the record, because a record that is only checked again must not be copied with its fields.
CREATE TABLE ing_record_fields (
    record_id INTEGER PRIMARY KEY, -- ing_record_state.id
    fields    TEXT NOT NULL CHECK (json_valid(fields))
) STRICT;

-- The views of records that were made by patra source apply, and what each selects.
CREATE TABLE ing_view (
    view_name       TEXT NOT NULL PRIMARY KEY,
    provenance_code TEXT NOT NULL CHECK (provenance_code <> ''),
    endpoint_name   TEXT NOT NULL CHECK (endpoint_name <> ''),
    definition      TEXT NOT NULL,
    UNIQUE (provenance_code, endpoint_name)
) STRICT;

-- What an expr_hash stands for: the query that fetched a record, and the mapping that read it. The
-- snapshot reads records by this mapping, so that a later one can be compared with it.
CREATE TABLE ing_expr (
    expr_hash       TEXT NOT NULL PRIMARY KEY,
    provenance_code TEXT NOT NULL CHECK (provenance_code <> ''),
    endpoint_name   TEXT NOT NULL, -- whose responses are the records: the details endpoint in two phases
    query_hash      TEXT NOT NULL,
    mapping_hash    TEXT NOT NULL,
    snapshot        TEXT NOT NULL CHECK (json_valid(snapshot)),
    created_at      INTEGER NOT NULL
) STRICT;

-- For which parents the records of a child endpoint were fetched, and when. A parent that has none has a row, too.
CREATE TABLE ing_child_fetch (
    parent_id       TEXT    NOT NULL CHECK (length(parent_id) BETWEEN 1 AND 1024), -- the provider's
    endpoint_name   TEXT    NOT NULL CHECK (endpoint_name <> ''), -- of the children
    provenance_code TEXT    NOT NULL CHECK (provenance_code <> ''),
    expr_hash       TEXT    NOT NULL, -- of the expression that requested them
    fetched_at      INTEGER NOT NULL, -- when the request was sent
    PRIMARY KEY (parent_id, endpoint_name, provenance_code)
) STRICT, WITHOUT ROWID;

-- A record that could not be judged, with everything needed to see why.
CREATE TABLE ing_quarantine (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    provenance_code      TEXT    NOT NULL CHECK (provenance_code <> ''),
    endpoint_name        TEXT    NOT NULL,
    provider_id          TEXT    NOT NULL, -- '' if none could be read
    reason_code          TEXT    NOT NULL CHECK (reason_code <> ''),
    detail               TEXT    NOT NULL,
    batch_position       INTEGER NOT NULL CHECK (batch_position >= 0),
    schedule_instance_id INTEGER,
    plan_id              INTEGER,
    slice_id             INTEGER,
    task_id              INTEGER,
    run_id               INTEGER,
    batch_id             INTEGER,
    observed_at          INTEGER NOT NULL, -- when the request was sent that brought it
    created_at           INTEGER NOT NULL,
    resolved_at          INTEGER,
    resolution_code      TEXT    CHECK (resolution_code IN ('RETRIED', 'REPLACED', 'DROPPED')),
    resolved_by          TEXT    NOT NULL DEFAULT '',
    resolved_note        TEXT    NOT NULL DEFAULT '',
    payload              BLOB    NOT NULL,
    CONSTRAINT ck_quarantine_resolved CHECK ((resolved_at IS NULL) = (resolution_code IS NULL)
        AND (resolved_at IS NULL) = (resolved_by = ''))
) STRICT;

CREATE UNIQUE INDEX uk_quarantine_place ON ing_quarantine (batch_id, batch_position)
    WHERE batch_id IS NOT NULL;
-- The same bytes are quarantined only once.
CREATE INDEX idx_quarantine_record ON ing_quarantine
    (provenance_code, endpoint_name, provider_id, length(payload));
CREATE INDEX idx_quarantine_open ON ing_quarantine (provenance_code, endpoint_name, id)
    WHERE resolved_at IS NULL;
-- For every batch: has one of its records been quarantined before?
CREATE INDEX idx_quarantine_known ON ing_quarantine (provenance_code, endpoint_name, provider_id)
    WHERE resolved_at IS NULL AND provider_id <> '';

-- A request to fetch a record again: retracted, merged, incomplete. Open until a plan takes it.
CREATE TABLE ing_signal (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    provenance_code TEXT    NOT NULL CHECK (provenance_code <> ''),
    endpoint_name   TEXT    NOT NULL CHECK (endpoint_name <> ''),
    provider_id     TEXT    NOT NULL CHECK (length(provider_id) BETWEEN 1 AND 1024),
    reason          TEXT    NOT NULL,
    http_status     INTEGER NOT NULL DEFAULT 0, -- of the response that refused the record; 0: none
    detail          TEXT    NOT NULL DEFAULT '', -- that response or failure in words
    created_by      TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    plan_id         INTEGER, -- the plan that took it; NULL: settled without a plan
    consumed_at     INTEGER,
    closed_by       TEXT    NOT NULL DEFAULT '', -- who settled it without a plan
    CONSTRAINT ck_signal_consumed CHECK (plan_id IS NULL OR consumed_at IS NOT NULL),
    CONSTRAINT ck_signal_closed CHECK (closed_by = '' OR (plan_id IS NULL AND consumed_at IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX uk_signal_open ON ing_signal (provenance_code, endpoint_name, provider_id)
    WHERE consumed_at IS NULL;
CREATE INDEX idx_signal_open ON ing_signal (provenance_code, endpoint_name, id)
    WHERE consumed_at IS NULL;
CREATE INDEX idx_signal_plan ON ing_signal (plan_id, provider_id) WHERE plan_id IS NOT NULL;
-- For the number of attempts, and for the history of a record.
CREATE INDEX idx_signal_record ON ing_signal (provenance_code, endpoint_name, provider_id);

-- ---- the rate gate ----

-- The bucket of a rate key (core/bucket.h), shared by all processes; in millionths of a permit.
CREATE TABLE ing_rate_gate (
    rate_key       TEXT    NOT NULL PRIMARY KEY CHECK (rate_key <> ''),
    tokens         INTEGER NOT NULL,
    carry          INTEGER NOT NULL,
    refilled_at    INTEGER NOT NULL,
    rate           INTEGER NOT NULL CHECK (rate > 0), -- the learned rate; survives restarts
    provider_rate  INTEGER NOT NULL CHECK (provider_rate >= 0),
    raised_at      INTEGER NOT NULL,
    demoted_at     INTEGER NOT NULL,
    cooldown_until INTEGER NOT NULL,
    line_until     INTEGER NOT NULL,
    started_at     INTEGER NOT NULL,
    parked_until   INTEGER NOT NULL, -- quota used up: suspended until the provider's reset
    has_credential INTEGER NOT NULL CHECK (has_credential IN (0, 1)), -- as the last requests were sent
    refused_at     INTEGER, -- the credential was refused and is not used; NULL: no
    refused_status INTEGER,
    version        INTEGER NOT NULL CHECK (version >= 1),
    updated_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Requests in progress, if a source limits them; the slot of a dead holder expires.
CREATE TABLE ing_rate_permit (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    rate_key   TEXT    NOT NULL CHECK (rate_key <> ''),
    owner      TEXT    NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_permit_expiry ON ing_rate_permit (rate_key, expires_at);

-- Requests counted towards the provider's hourly or daily quota, by the class of their operation.
CREATE TABLE ing_rate_quota (
    rate_key    TEXT    NOT NULL CHECK (rate_key <> ''),
    window_code TEXT    NOT NULL CHECK (window_code IN ('HOUR', 'DAY')),
    window_from INTEGER NOT NULL,
    class_code  TEXT    NOT NULL CHECK (class_code IN ('HARVEST', 'UPDATE', 'BACKFILL')),
    used        INTEGER NOT NULL CHECK (used >= 0),
    booked      INTEGER NOT NULL CHECK (booked >= 0), -- promised to tasks, not yet sent
    PRIMARY KEY (rate_key, window_code, window_from, class_code)
) STRICT, WITHOUT ROWID;

-- ---- the archive: full responses, known by their hash ----

-- What the responses of an endpoint have in common, or the payloads of its records.
CREATE TABLE ing_archive_dictionary (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    provenance_code TEXT    NOT NULL,
    endpoint_name   TEXT    NOT NULL,
    of_payloads     INTEGER NOT NULL CHECK (of_payloads IN (0, 1)),
    created_at      INTEGER NOT NULL,
    bytes           BLOB    NOT NULL
) STRICT;

CREATE INDEX idx_archive_dictionary ON ing_archive_dictionary (provenance_code, endpoint_name, of_payloads, id);

CREATE TABLE ing_archive_body (
    hash            TEXT    PRIMARY KEY CHECK (length(hash) = 64), -- of the bytes before packing
    provenance_code TEXT    NOT NULL,
    endpoint_name   TEXT    NOT NULL,
    dictionary_id   INTEGER REFERENCES ing_archive_dictionary,
    raw_bytes       INTEGER NOT NULL,
    packed_bytes    INTEGER NOT NULL,
    used_at         INTEGER NOT NULL, -- when a batch had it last
    packed          BLOB    NOT NULL
) STRICT;

CREATE INDEX idx_archive_body_used
    ON ing_archive_body (provenance_code, endpoint_name, used_at, packed_bytes, raw_bytes);
