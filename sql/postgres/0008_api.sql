-- Who may call the HTTP API. The secret of a token is not here, only its hash; rows are never deleted.
CREATE TABLE sys_token (
    selector    text        NOT NULL PRIMARY KEY CHECK (length(selector) = 16),
    name        text        NOT NULL CHECK (name <> ''),
    secret_hash text        NOT NULL CHECK (length(secret_hash) = 64),
    scope_code  text        NOT NULL CHECK (scope_code IN ('read', 'operate')),
    created_by  text        NOT NULL,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz,
    revoked_at  timestamptz,
    revoked_by  text        NOT NULL
);
CREATE UNIQUE INDEX sys_token_name ON sys_token (name) WHERE revoked_at IS NULL;

-- What was answered to requests that have a key of their own (Idempotency-Key); kept for a day.
CREATE TABLE sys_answer (
    selector     text        NOT NULL,
    answer_key   text        NOT NULL CHECK (answer_key <> ''),
    request_hash text        NOT NULL CHECK (length(request_hash) = 64),
    status       bigint      NOT NULL, -- 0: it is being made
    body         text        NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (selector, answer_key)
);
CREATE INDEX sys_answer_age ON sys_answer (created_at);
