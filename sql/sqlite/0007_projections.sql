-- Projections as they were set up where their tables are. The tables themselves have the names of their files.
CREATE TABLE ing_projection (
    name       TEXT    NOT NULL PRIMARY KEY CHECK (name <> ''),
    spec       TEXT    NOT NULL CHECK (json_valid(spec)),
    spec_hash  TEXT    NOT NULL CHECK (length(spec_hash) = 64),
    applied_by TEXT    NOT NULL,
    applied_at INTEGER NOT NULL,
    rebuild    TEXT    NOT NULL DEFAULT '' -- how far a rebuild is, JSON; '': there is none
) STRICT, WITHOUT ROWID;
