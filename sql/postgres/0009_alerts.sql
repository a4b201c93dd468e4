-- Alerts: where they are sent, their limits, what is or was wrong, and who was notified.

-- Receivers as they were applied (spec/alert_file.h).
CREATE TABLE reg_alert_receiver (
    name       text    NOT NULL PRIMARY KEY CHECK (name <> ''),
    spec       text    NOT NULL CHECK (spec::json IS NOT NULL),
    applied_by text    NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Rules that a person has set; all others have the program's defaults (core/alert.h).
CREATE TABLE reg_alert_rule (
    rule_code   text    NOT NULL PRIMARY KEY CHECK (rule_code <> ''),
    is_off      boolean     NOT NULL,
    limit_value bigint  NOT NULL, -- microseconds, a count or percent, by rule
    hold_us     bigint  NOT NULL CHECK (hold_us >= 0),
    set_by      text    NOT NULL,
    updated_at  timestamptz NOT NULL
);

-- One row for each thing that is wrong, from when it is first seen; resolved when it is not any more.
CREATE TABLE ing_alert (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule_code       text    NOT NULL CHECK (rule_code <> ''),
    subject         text    NOT NULL,
    provenance_code text    NOT NULL, -- '': of no source
    severity_code   text    NOT NULL CHECK (severity_code IN ('WARNING', 'CRITICAL')),
    text            text    NOT NULL, -- as it was seen last
    since_at        timestamptz NOT NULL, -- when it was first seen
    seen_at         timestamptz NOT NULL, -- when it was last seen
    fired_at        timestamptz,          -- NULL: it has not held long enough
    resolved_at     timestamptz,
    CONSTRAINT ck_alert_end CHECK (resolved_at IS NULL OR fired_at IS NOT NULL)
);

CREATE UNIQUE INDEX uk_alert_open ON ing_alert (rule_code, subject) WHERE resolved_at IS NULL;
CREATE INDEX idx_alert_resolved ON ing_alert (resolved_at) WHERE resolved_at IS NOT NULL;

-- What is to be notified to whom, once each.
CREATE TABLE ing_alert_notice (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    alert_id     bigint  NOT NULL REFERENCES ing_alert ON DELETE CASCADE,
    receiver     text    NOT NULL CHECK (receiver <> ''),
    kind_code    text    NOT NULL CHECK (kind_code IN ('FIRED', 'RESOLVED')),
    created_at   timestamptz NOT NULL,
    next_try_at  timestamptz NOT NULL, -- while it is being sent: when another may try
    attempts     bigint  NOT NULL DEFAULT 0,
    last_error   text    NOT NULL DEFAULT '',
    sent_at      timestamptz,
    gave_up_at   timestamptz
);

CREATE UNIQUE INDEX uk_alert_notice ON ing_alert_notice (alert_id, receiver, kind_code);
CREATE INDEX idx_alert_notice_due ON ing_alert_notice (next_try_at) WHERE sent_at IS NULL AND gave_up_at IS NULL;

-- Nobody is notified of what a silence covers; it is listed all the same.
CREATE TABLE ing_alert_silence (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule_code       text    NOT NULL, -- '': any
    provenance_code text    NOT NULL, -- '': any
    subject         text    NOT NULL, -- '': any
    until_at        timestamptz NOT NULL, -- ended early: the past
    reason          text    NOT NULL,
    created_by      text    NOT NULL,
    created_at      timestamptz NOT NULL
);

CREATE INDEX idx_alert_silence_until ON ing_alert_silence (until_at);

-- Which process looks and sends. One row, or none yet.
CREATE TABLE ing_alert_turn (
    one          smallint NOT NULL PRIMARY KEY CHECK (one = 1),
    lease_owner  text NOT NULL,
    leased_until timestamptz NOT NULL
);

-- ---- retention ----

-- Files of rows that were taken out of the database, and where they are.
CREATE TABLE ing_retained_file (
    kind_code text NOT NULL CHECK (kind_code IN ('BATCH', 'CURSOR_EVENT')),
    first_id  bigint NOT NULL, -- of its rows
    last_id   bigint NOT NULL,
    first_run bigint NOT NULL, -- of batches: the runs that they belong to
    last_run  bigint NOT NULL,
    row_count bigint NOT NULL CHECK (row_count >= 1),
    path      text NOT NULL CHECK (path <> ''),
    sha256    text NOT NULL CHECK (length(sha256) = 64), -- of its lines, unpacked
    made_at   timestamptz NOT NULL,
    PRIMARY KEY (kind_code, first_id)
);

CREATE INDEX idx_retained_run ON ing_retained_file (last_run, first_run);

-- ---- evidence ----

-- Who has taken evidence out of the black box, why, and until when it may be kept.
CREATE TABLE ing_evidence_pack (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject     text NOT NULL CHECK (subject <> ''), -- "run 31"
    path        text NOT NULL,
    sha256      text NOT NULL CHECK (length(sha256) = 64), -- of its manifest
    reason      text NOT NULL CHECK (reason <> ''),
    exported_by text NOT NULL,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL
);
