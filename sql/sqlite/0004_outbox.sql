-- What is published: events, the lanes they are published through, and the offset of each consumer.

-- An event, written in the transaction of the change it describes, after the record's row is locked.
-- Keys hash to lanes; a lane has one owner at a time, which numbers published events without gaps.
CREATE TABLE ing_outbox (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id        TEXT    NOT NULL CHECK (length(event_id) = 36),
    aggregate_type  TEXT    NOT NULL CHECK (aggregate_type <> ''),
    aggregate_id    TEXT    NOT NULL CHECK (aggregate_id <> ''),
    event_type      TEXT    NOT NULL CHECK (event_type <> ''),
    version         INTEGER NOT NULL CHECK (version >= 1),
    schema_version  INTEGER NOT NULL CHECK (schema_version >= 1),
    lane            INTEGER NOT NULL CHECK (lane >= 0),
    occurred_at     INTEGER NOT NULL,
    published_at    INTEGER,
    stream_pos      INTEGER CHECK (stream_pos >= 1), -- in its lane, without gaps
    attempts_begun  INTEGER NOT NULL DEFAULT 0, -- counted separately: a lasting difference
    attempts_ended  INTEGER NOT NULL DEFAULT 0, -- means that the event kills its publisher
    payload         BLOB    NOT NULL,
    CONSTRAINT ck_outbox_published CHECK ((published_at IS NULL) = (stream_pos IS NULL))
) STRICT;

CREATE UNIQUE INDEX uk_outbox_event ON ing_outbox (event_id);
CREATE UNIQUE INDEX uk_outbox_version ON ing_outbox (aggregate_id, aggregate_type, version);
CREATE UNIQUE INDEX uk_outbox_stream ON ing_outbox (lane, stream_pos) WHERE stream_pos IS NOT NULL;
CREATE INDEX idx_outbox_unpublished ON ing_outbox (lane, id) WHERE published_at IS NULL;
CREATE INDEX idx_outbox_time ON ing_outbox (occurred_at);

CREATE TABLE ing_outbox_lane (
    lane         INTEGER NOT NULL PRIMARY KEY CHECK (lane >= 0),
    stream_pos   INTEGER NOT NULL DEFAULT 0 CHECK (stream_pos >= 0), -- the last one assigned
    lease_owner  TEXT,
    leased_until INTEGER,
    lease_epoch  INTEGER NOT NULL DEFAULT 0 CHECK (lease_epoch >= 0),
    CONSTRAINT ck_lane_lease CHECK ((lease_owner IS NULL) = (leased_until IS NULL))
) STRICT;

-- Keys whose first unpublished event failed. While a key is here, none of its events is published.
CREATE TABLE ing_outbox_key (
    aggregate_type TEXT    NOT NULL,
    aggregate_id   TEXT    NOT NULL,
    lane           INTEGER NOT NULL,
    outbox_id      INTEGER NOT NULL, -- the event that failed
    failures       INTEGER NOT NULL CHECK (failures >= 1),
    policy_code    TEXT    NOT NULL CHECK (policy_code IN ('WAIT', 'SKIP_TO_LATEST', 'STOP')),
    next_retry_at  INTEGER NOT NULL,
    last_error     TEXT    NOT NULL,
    parked_at      INTEGER NOT NULL,
    PRIMARY KEY (aggregate_type, aggregate_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX idx_outbox_key_retry ON ing_outbox_key (lane, next_retry_at);

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
