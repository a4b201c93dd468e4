-- Alerts: where they are sent, their limits, what is or was wrong, and who was notified.

-- Receivers as they were applied (spec/alert_file.h).
CREATE TABLE reg_alert_receiver (
    name       TEXT    NOT NULL PRIMARY KEY CHECK (name <> ''),
    spec       TEXT    NOT NULL CHECK (json_valid(spec)),
    applied_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Rules that a person has set; all others have the program's defaults (core/alert.h).
CREATE TABLE reg_alert_rule (
    rule_code   TEXT    NOT NULL PRIMARY KEY CHECK (rule_code <> ''),
    is_off      INTEGER NOT NULL CHECK (is_off IN (0, 1)),
    limit_value INTEGER NOT NULL, -- microseconds, a count or percent, by rule
    hold_us     INTEGER NOT NULL CHECK (hold_us >= 0),
    set_by      TEXT    NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row for each thing that is wrong, from when it is first seen; resolved when it is not any more.
CREATE TABLE ing_alert (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    rule_code       TEXT    NOT NULL CHECK (rule_code <> ''),
    subject         TEXT    NOT NULL,
    provenance_code TEXT    NOT NULL, -- '': of no source
    severity_code   TEXT    NOT NULL CHECK (severity_code IN ('WARNING', 'CRITICAL')),
    text            TEXT    NOT NULL, -- as it was seen last
    since_at        INTEGER NOT NULL, -- when it was first seen
    seen_at         INTEGER NOT NULL, -- when it was last seen
    fired_at        INTEGER,          -- NULL: it has not held long enough
    resolved_at     INTEGER,
    CONSTRAINT ck_alert_end CHECK (resolved_at IS NULL OR fired_at IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX uk_alert_open ON ing_alert (rule_code, subject) WHERE resolved_at IS NULL;
CREATE INDEX idx_alert_resolved ON ing_alert (resolved_at) WHERE resolved_at IS NOT NULL;

-- What is to be notified to whom, once each.
CREATE TABLE ing_alert_notice (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    alert_id     INTEGER NOT NULL REFERENCES ing_alert ON DELETE CASCADE,
    receiver     TEXT    NOT NULL CHECK (receiver <> ''),
    kind_code    TEXT    NOT NULL CHECK (kind_code IN ('FIRED', 'RESOLVED')),
    created_at   INTEGER NOT NULL,
    next_try_at  INTEGER NOT NULL, -- while it is being sent: when another may try
    attempts     INTEGER NOT NULL DEFAULT 0,
    last_error   TEXT    NOT NULL DEFAULT '',
    sent_at      INTEGER,
    gave_up_at   INTEGER
) STRICT;

CREATE UNIQUE INDEX uk_alert_notice ON ing_alert_notice (alert_id, receiver, kind_code);
CREATE INDEX idx_alert_notice_due ON ing_alert_notice (next_try_at) WHERE sent_at IS NULL AND gave_up_at IS NULL;

-- Nobody is notified of what a silence covers; it is listed all the same.
CREATE TABLE ing_alert_silence (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    rule_code       TEXT    NOT NULL, -- '': any
    provenance_code TEXT    NOT NULL, -- '': any
    subject         TEXT    NOT NULL, -- '': any
    until_at        INTEGER NOT NULL, -- ended early: the past
    reason          TEXT    NOT NULL,
    created_by      TEXT    NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_alert_silence_until ON ing_alert_silence (until_at);

-- Which process looks and sends. One row, or none yet.
CREATE TABLE ing_alert_turn (
    one          INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    lease_owner  TEXT NOT NULL,
    leased_until INTEGER NOT NULL
) STRICT;

-- ---- retention ----

-- Files of rows that were taken out of the database, and where they are.
CREATE TABLE ing_retained_file (
    kind_code TEXT NOT NULL CHECK (kind_code IN ('BATCH', 'CURSOR_EVENT')),
    first_id  INTEGER NOT NULL, -- of its rows
    last_id   INTEGER NOT NULL,
    first_run INTEGER NOT NULL, -- of batches: the runs that they belong to
    last_run  INTEGER NOT NULL,
    row_count INTEGER NOT NULL CHECK (row_count >= 1),
    path      TEXT NOT NULL CHECK (path <> ''),
    sha256    TEXT NOT NULL CHECK (length(sha256) = 64), -- of its lines, unpacked
    made_at   INTEGER NOT NULL,
    PRIMARY KEY (kind_code, first_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX idx_retained_run ON ing_retained_file (last_run, first_run);

-- ---- evidence ----

-- Who has taken evidence out of the black box, why, and until when it may be kept.
CREATE TABLE ing_evidence_pack (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    subject     TEXT NOT NULL CHECK (subject <> ''), -- "run 31"
    path        TEXT NOT NULL,
    sha256      TEXT NOT NULL CHECK (length(sha256) = 64), -- of its manifest
    reason      TEXT NOT NULL CHECK (reason <> ''),
    exported_by TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT;
