-- What is published: events, the lanes they are published through, and the offset of each consumer.

-- An event, written in the transaction of the change it describes, after the record's row is locked.
-- Keys hash to lanes; a lane has one owner at a time, which numbers published events without gaps.
CREATE TABLE ing_outbox (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id       uuid        NOT NULL,
    aggregate_type text COLLATE "C" NOT NULL CHECK (aggregate_type <> ''),
    aggregate_id   text COLLATE "C" NOT NULL CHECK (aggregate_id <> ''),
    event_type     text        NOT NULL CHECK (event_type <> ''),
    version        bigint      NOT NULL CHECK (version >= 1),
    schema_version integer     NOT NULL CHECK (schema_version >= 1),
    lane           integer     NOT NULL CHECK (lane >= 0),
    occurred_at    timestamptz NOT NULL,
    published_at   timestamptz,
    stream_pos     bigint      CHECK (stream_pos >= 1), -- in its lane, without gaps
    attempts_begun integer     NOT NULL DEFAULT 0, -- counted separately: a lasting difference
    attempts_ended integer     NOT NULL DEFAULT 0, -- means that the event kills its publisher
    payload        bytea       NOT NULL,
    CONSTRAINT ck_outbox_published CHECK ((published_at IS NULL) = (stream_pos IS NULL))
);

CREATE UNIQUE INDEX uk_outbox_event ON ing_outbox (event_id);
CREATE UNIQUE INDEX uk_outbox_version ON ing_outbox (aggregate_id, aggregate_type, version);
CREATE UNIQUE INDEX uk_outbox_stream ON ing_outbox (lane, stream_pos) WHERE stream_pos IS NOT NULL;
CREATE INDEX idx_outbox_unpublished ON ing_outbox (lane, id) WHERE published_at IS NULL;
-- Events are stored roughly in order of time: a small BRIN index finds each day.
CREATE INDEX idx_outbox_time ON ing_outbox USING brin (occurred_at);

CREATE TABLE ing_outbox_lane (
    lane         integer     NOT NULL PRIMARY KEY CHECK (lane >= 0),
    stream_pos   bigint      NOT NULL DEFAULT 0 CHECK (stream_pos >= 0), -- the last one assigned
    lease_owner  text,
    leased_until timestamptz,
    lease_epoch  bigint      NOT NULL DEFAULT 0 CHECK (lease_epoch >= 0),
    CONSTRAINT ck_lane_lease CHECK ((lease_owner IS NULL) = (leased_until IS NULL))
);

-- Keys whose first unpublished event failed. While a key is here, none of its events is published.
CREATE TABLE ing_outbox_key (
    aggregate_type text        NOT NULL,
    aggregate_id   text        NOT NULL,
    lane           integer     NOT NULL,
    outbox_id      bigint      NOT NULL, -- the event that failed
    failures       integer     NOT NULL CHECK (failures >= 1),
    policy_code    text        NOT NULL CHECK (policy_code IN ('WAIT', 'SKIP_TO_LATEST', 'STOP')),
    next_retry_at  timestamptz NOT NULL,
    last_error     text        NOT NULL,
    parked_at      timestamptz NOT NULL,
    PRIMARY KEY (aggregate_type, aggregate_id)
);

CREATE INDEX idx_outbox_key_retry ON ing_outbox_key (lane, next_retry_at);

-- ---- consumers ----

CREATE TABLE ing_inbox (
    consumer_group text        NOT NULL,
    event_id       uuid        NOT NULL,
    lane           integer     NOT NULL,
    stream_pos     bigint      NOT NULL,
    received_at    timestamptz NOT NULL,
    PRIMARY KEY (consumer_group, event_id)
);

CREATE INDEX idx_inbox_prune ON ing_inbox (consumer_group, lane, stream_pos);

CREATE TABLE ing_offset (
    consumer_group text        NOT NULL CHECK (consumer_group <> ''),
    subscription   text        NOT NULL CHECK (subscription <> ''),
    lane           integer     NOT NULL CHECK (lane >= 0),
    stream_pos     bigint      NOT NULL CHECK (stream_pos >= 0),
    ack_id         text,
    message_id     text        NOT NULL,
    publish_time   timestamptz NOT NULL,
    lag_us         bigint      NOT NULL,
    updated_by     text        NOT NULL,
    updated_at     timestamptz NOT NULL,
    PRIMARY KEY (consumer_group, subscription, lane)
);

-- Who moved an offset, from where to where, and why.
CREATE TABLE ing_offset_reset (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    consumer_group text        NOT NULL,
    subscription   text        NOT NULL,
    lane           integer     NOT NULL,
    old_pos        bigint,
    old_message_id text,
    new_pos        bigint      NOT NULL,
    new_message_id text        NOT NULL,
    reason         text        NOT NULL,
    reset_by       text        NOT NULL,
    reset_at       timestamptz NOT NULL
);

CREATE INDEX idx_offset_reset_group ON ing_offset_reset (consumer_group, subscription, id);
