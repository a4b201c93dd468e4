-- The outbox, the stream, and what consumers keep.

-- An event, written in the transaction of the change it describes, after the record's row is locked,
-- and never changed: who has read it is written elsewhere. It says only what neither its record nor
-- its batch does (src/engine/event/record_event.h).
CREATE TABLE ing_outbox (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    record_id      INTEGER, -- whose event it is; NULL: a foreign aggregate's
    version        INTEGER NOT NULL CHECK (version >= 1),
    batch_id       INTEGER, -- which knows run, task, slice and plan
    occurred_at    INTEGER NOT NULL,
    event_id       TEXT    NOT NULL CHECK (length(event_id) = 36), -- not indexed: nobody asks by it
    lane           INTEGER NOT NULL CHECK (lane BETWEEN 0 AND 63),
    schema_version INTEGER NOT NULL CHECK (schema_version >= 1),
    event_type     TEXT    NOT NULL CHECK (event_type <> ''),
    aggregate_type TEXT, -- of a foreign one
    aggregate_id   TEXT,
    body           BLOB    NOT NULL,
    CONSTRAINT ck_outbox_key CHECK
        (CASE WHEN record_id IS NULL THEN coalesce(aggregate_type, '') <> '' AND coalesce(aggregate_id, '') <> ''
              ELSE aggregate_type IS NULL AND aggregate_id IS NULL END)
) STRICT;

CREATE UNIQUE INDEX uk_outbox_version ON ing_outbox (record_id, version) WHERE record_id IS NOT NULL;
CREATE UNIQUE INDEX uk_outbox_foreign ON ing_outbox (aggregate_id, aggregate_type, version)
    WHERE record_id IS NULL;
CREATE INDEX idx_outbox_time ON ing_outbox (occurred_at);

-- ---- the stream: events in the order in which everybody reads them ----

-- How far the sequencer is (src/engine/publish/sequencer.h), and who it is. One row.
CREATE TABLE ing_stream_head (
    one          INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    lane_count   INTEGER NOT NULL CHECK (lane_count >= 1), -- keys hash to so many lanes, for ever
    cursor_id    INTEGER NOT NULL, -- the highest id of the outbox that was looked at
    horizon_id   INTEGER NOT NULL, -- up to it every id is in the stream, or will never be an event
    lease_owner  TEXT,
    leased_until INTEGER,
    lease_epoch  INTEGER NOT NULL,
    CONSTRAINT ck_head_horizon CHECK (horizon_id <= cursor_id),
    CONSTRAINT ck_head_lease CHECK ((lease_owner IS NULL) = (leased_until IS NULL))
) STRICT;

CREATE TABLE ing_stream_lane (
    lane     INTEGER NOT NULL PRIMARY KEY CHECK (lane >= 0),
    last_pos INTEGER NOT NULL CHECK (last_pos >= 0) -- the last one given out, without gaps
) STRICT;

-- A row for each event: the ids of one round in an array, as PostgreSQL has them, would need functions
-- that SQLite lacks.
CREATE TABLE ing_stream (
    lane         INTEGER NOT NULL,
    pos          INTEGER NOT NULL,
    outbox_id    INTEGER NOT NULL,
    sequenced_at INTEGER NOT NULL,
    PRIMARY KEY (lane, pos)
) STRICT, WITHOUT ROWID;

INSERT INTO ing_stream_head (one, lane_count, cursor_id, horizon_id, lease_epoch) VALUES (1, 64, 0, 0, 0);
INSERT INTO ing_stream_lane (lane, last_pos)
    WITH RECURSIVE lanes (lane) AS (VALUES (0) UNION ALL SELECT lane + 1 FROM lanes WHERE lane < 63)
    SELECT lane, 0 FROM lanes;

-- ---- consumers ----

CREATE TABLE ing_inbox (
    consumer_group TEXT    NOT NULL,
    event_id       TEXT    NOT NULL CHECK (length(event_id) = 36),
    lane           INTEGER NOT NULL,
    stream_pos     INTEGER NOT NULL,
    received_at    INTEGER NOT NULL,
    PRIMARY KEY (consumer_group, event_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX idx_inbox_prune ON ing_inbox (consumer_group, lane, stream_pos);

CREATE TABLE ing_offset (
    consumer_group TEXT    NOT NULL CHECK (consumer_group <> ''),
    subscription   TEXT    NOT NULL CHECK (subscription <> ''),
    lane           INTEGER NOT NULL CHECK (lane >= 0),
    stream_pos     INTEGER NOT NULL CHECK (stream_pos >= 0),
    ack_id         TEXT,
    message_id     TEXT    NOT NULL,
    publish_time   INTEGER NOT NULL,
    lag_us         INTEGER NOT NULL,
    updated_by     TEXT    NOT NULL,
    updated_at     INTEGER NOT NULL,
    PRIMARY KEY (consumer_group, subscription, lane)
) STRICT, WITHOUT ROWID;

-- Who moved an offset, from where to where, and why.
CREATE TABLE ing_offset_reset (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    consumer_group TEXT    NOT NULL,
    subscription   TEXT    NOT NULL,
    lane           INTEGER NOT NULL,
    old_pos        INTEGER,
    old_message_id TEXT,
    new_pos        INTEGER NOT NULL,
    new_message_id TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    reset_by       TEXT    NOT NULL,
    reset_at       INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_offset_reset_group ON ing_offset_reset (consumer_group, subscription, id);
