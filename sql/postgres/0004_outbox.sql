-- The outbox, the stream, and what consumers keep.

-- An event, written in the transaction of the change it describes, after the record's row is locked,
-- and never changed: who has read it is written elsewhere. It says only what neither its record nor
-- its batch does (src/engine/event/record_event.h).
CREATE TABLE ing_outbox (
    -- one by one, without CACHE: the order of a key's events rests on it
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    record_id      bigint, -- whose event it is; NULL: a foreign aggregate's
    version        bigint      NOT NULL CHECK (version >= 1),
    batch_id       bigint, -- which knows run, task, slice and plan
    occurred_at    timestamptz NOT NULL,
    event_id       uuid        NOT NULL, -- not indexed: nobody asks by it
    lane           smallint    NOT NULL CHECK (lane BETWEEN 0 AND 63),
    schema_version smallint    NOT NULL CHECK (schema_version >= 1),
    event_type     text        NOT NULL CHECK (event_type <> ''),
    aggregate_type text COLLATE "C", -- of a foreign one
    aggregate_id   text COLLATE "C",
    body           bytea       NOT NULL,
    CONSTRAINT ck_outbox_key CHECK
        (CASE WHEN record_id IS NULL THEN coalesce(aggregate_type, '') <> '' AND coalesce(aggregate_id, '') <> ''
              ELSE aggregate_type IS NULL AND aggregate_id IS NULL END)
);

CREATE UNIQUE INDEX uk_outbox_version ON ing_outbox (record_id, version) WHERE record_id IS NOT NULL;
CREATE UNIQUE INDEX uk_outbox_foreign ON ing_outbox (aggregate_id, aggregate_type, version)
    WHERE record_id IS NULL;
-- Events are stored roughly in order of time: a small BRIN index finds each day.
CREATE INDEX idx_outbox_time ON ing_outbox USING brin (occurred_at);

-- ---- the stream: events in the order in which everybody reads them ----

-- How far the sequencer is (src/engine/publish/sequencer.h), and who it is. One row.
CREATE TABLE ing_stream_head (
    one          smallint    NOT NULL PRIMARY KEY CHECK (one = 1),
    lane_count   smallint    NOT NULL CHECK (lane_count >= 1), -- keys hash to so many lanes, for ever
    cursor_id    bigint      NOT NULL, -- the highest id of the outbox that was looked at
    horizon_id   bigint      NOT NULL, -- up to it every id is in the stream, or will never be an event
    pruned_id    bigint      NOT NULL DEFAULT 0, -- the highest id of the events that were removed; 0: none
    lease_owner  text,
    leased_until timestamptz,
    lease_epoch  bigint      NOT NULL,
    CONSTRAINT ck_head_horizon CHECK (horizon_id <= cursor_id),
    CONSTRAINT ck_head_pruned CHECK (pruned_id <= horizon_id),
    CONSTRAINT ck_head_lease CHECK ((lease_owner IS NULL) = (leased_until IS NULL))
) WITH (fillfactor = 10);

CREATE TABLE ing_stream_lane (
    lane     smallint NOT NULL PRIMARY KEY CHECK (lane >= 0),
    last_pos bigint   NOT NULL CHECK (last_pos >= 0) -- the last one given out, without gaps
) WITH (fillfactor = 50);

-- What one round of the sequencer gave to one lane.
CREATE TABLE ing_stream (
    lane         smallint    NOT NULL,
    last_pos     bigint      NOT NULL,
    first_pos    bigint      NOT NULL,
    last_id      bigint      NOT NULL, -- the highest of outbox_ids
    sequenced_at timestamptz NOT NULL,
    outbox_ids   bigint[]    NOT NULL, -- of the positions first_pos, first_pos + 1, ...
    PRIMARY KEY (lane, last_pos),
    CONSTRAINT ck_stream_positions CHECK (last_pos - first_pos + 1 = cardinality(outbox_ids))
);

CREATE INDEX idx_stream_id ON ing_stream (last_id); -- what a new sequencer finds there
CREATE INDEX idx_stream_lane_id ON ing_stream (lane, last_id); -- where an event is
CREATE INDEX idx_stream_time ON ing_stream (lane, sequenced_at); -- where a lane was at an instant

INSERT INTO ing_stream_head (one, lane_count, cursor_id, horizon_id, lease_epoch) VALUES (1, 64, 0, 0, 0);
INSERT INTO ing_stream_lane (lane, last_pos) SELECT lane, 0 FROM generate_series(0, 63) AS lane;

-- ---- subscriptions: who reads the stream, and how far each one is ----

-- As it was applied. Each has offsets, leases and parked keys of its own.
CREATE TABLE ing_subscription (
    name         text        NOT NULL PRIMARY KEY CHECK (name <> ''),
    kind_code    text        NOT NULL CHECK (kind_code IN ('PROJECTION', 'RELAY', 'IMPORT')),
    spec         text        NOT NULL CHECK (spec::json IS NOT NULL),
    spec_hash    text        NOT NULL CHECK (length(spec_hash) = 64),
    policy_code  text        NOT NULL CHECK (policy_code IN ('WAIT', 'SKIP_TO_LATEST', 'STOP')),
    state_code   text        NOT NULL CHECK (state_code IN ('ACTIVE', 'PAUSED', 'STOPPED')),
    state_reason text        NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL
);

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
    lease_owner    text,
    leased_until   timestamptz,
    lease_epoch    bigint      NOT NULL DEFAULT 0,
    crashes        integer     NOT NULL DEFAULT 0, -- leases that ran out at this very position
    PRIMARY KEY (consumer_group, subscription, lane),
    CONSTRAINT ck_offset_lease CHECK ((lease_owner IS NULL) = (leased_until IS NULL))
) WITH (fillfactor = 50);

-- Who reads a subscription now: the lanes are shared among those who are alive. A reader that cannot go
-- on says so here.
CREATE TABLE ing_reader (
    consumer_group text        NOT NULL,
    subscription   text        NOT NULL,
    owner          text        NOT NULL,
    started_at     timestamptz NOT NULL,
    alive_until    timestamptz NOT NULL,
    error          text        NOT NULL, -- the present one; '': none
    error_since    timestamptz,
    PRIMARY KEY (consumer_group, subscription, owner),
    CONSTRAINT ck_reader_error CHECK ((error = '') = (error_since IS NULL))
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

-- Keys whose event could not be delivered. Later events of the key are passed over and wait with it.
CREATE TABLE ing_parked (
    consumer_group text        NOT NULL,
    subscription   text        NOT NULL,
    aggregate_type text COLLATE "C" NOT NULL,
    aggregate_id   text COLLATE "C" NOT NULL,
    record_id      bigint, -- NULL: a foreign aggregate
    lane           smallint    NOT NULL,
    head_version   bigint      NOT NULL, -- of the event that failed
    seen_version   bigint      NOT NULL, -- of the last one that was passed over
    attempts_begun integer     NOT NULL, -- more than ended, and it stays so: the event kills its reader
    attempts_ended integer     NOT NULL,
    policy_code    text        NOT NULL CHECK (policy_code IN ('WAIT', 'SKIP_TO_LATEST')),
    next_retry_at  timestamptz NOT NULL,
    last_error     text        NOT NULL,
    parked_at      timestamptz NOT NULL,
    PRIMARY KEY (consumer_group, subscription, aggregate_type, aggregate_id),
    CONSTRAINT ck_parked_versions CHECK (seen_version >= head_version),
    CONSTRAINT ck_parked_attempts CHECK (attempts_begun >= attempts_ended)
);

CREATE INDEX idx_parked_retry ON ing_parked (consumer_group, subscription, lane, next_retry_at);

-- Events that were given up, with everything that is needed to deliver them again.
CREATE TABLE ing_dead_letter (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    consumer_group text        NOT NULL,
    subscription   text        NOT NULL,
    event_id       uuid        NOT NULL,
    aggregate_type text        NOT NULL,
    aggregate_id   text        NOT NULL,
    version        bigint      NOT NULL,
    reason         text        NOT NULL,
    attempts       integer     NOT NULL,
    envelope       bytea       NOT NULL,
    dead_at        timestamptz NOT NULL,
    redriven_at    timestamptz,
    redriven_by    text        NOT NULL DEFAULT '',
    UNIQUE (consumer_group, subscription, event_id)
);

CREATE INDEX idx_dead_letter_key ON ing_dead_letter (aggregate_id, aggregate_type);
