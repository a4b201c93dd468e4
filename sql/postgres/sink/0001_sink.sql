-- A database that is not a store and has the tables of projections: what a reader of events keeps beside its
-- rows, so that both are one transaction. The tables are those of the store (0004_outbox.sql, 0007_projections.sql).

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

-- Projections as they were set up where their tables are. The tables themselves have the names of their files.
CREATE TABLE ing_projection (
    name       text        NOT NULL PRIMARY KEY CHECK (name <> ''),
    spec       text        NOT NULL CHECK (spec::json IS NOT NULL),
    spec_hash  text        NOT NULL CHECK (length(spec_hash) = 64),
    applied_by text        NOT NULL,
    applied_at timestamptz NOT NULL,
    rebuild    text        NOT NULL DEFAULT '' -- how far a rebuild is, JSON; '': there is none
);
