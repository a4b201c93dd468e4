-- Who may call the HTTP API. The secret of a token is not here, only its hash; rows are never deleted.
CREATE TABLE sys_token (
    selector    TEXT    NOT NULL PRIMARY KEY CHECK (length(selector) = 16),
    name        TEXT    NOT NULL CHECK (name <> ''),
    secret_hash TEXT    NOT NULL CHECK (length(secret_hash) = 64),
    scope_code  TEXT    NOT NULL CHECK (scope_code IN ('read', 'operate')),
    created_by  TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER,
    revoked_at  INTEGER,
    revoked_by  TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sys_token_name ON sys_token (name) WHERE revoked_at IS NULL;

-- What was answered to requests that have a key of their own (Idempotency-Key); kept for a day.
CREATE TABLE sys_answer (
    selector     TEXT    NOT NULL,
    answer_key   TEXT    NOT NULL CHECK (answer_key <> ''),
    request_hash TEXT    NOT NULL CHECK (length(request_hash) = 64),
    status       INTEGER NOT NULL, -- 0: it is being made
    body         TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (selector, answer_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX sys_answer_age ON sys_answer (created_at);
