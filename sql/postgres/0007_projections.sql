-- Projections as they were set up where their tables are. The tables themselves have the names of their files.
CREATE TABLE ing_projection (
    name       text        NOT NULL PRIMARY KEY CHECK (name <> ''),
    spec       text        NOT NULL CHECK (spec::json IS NOT NULL),
    spec_hash  text        NOT NULL CHECK (length(spec_hash) = 64),
    applied_by text        NOT NULL,
    applied_at timestamptz NOT NULL,
    rebuild    text        NOT NULL DEFAULT '' -- how far a rebuild is, JSON; '': there is none
);
