-- The ids that phase one of a task has listed, in order, for phase two: a run that takes over reads
-- them here instead of listing them again.

CREATE TABLE ing_listed_id (
    task_id     INTEGER NOT NULL REFERENCES ing_task (id),
    position    INTEGER NOT NULL CHECK (position >= 1), -- without gaps
    provider_id TEXT    NOT NULL CHECK (length(provider_id) BETWEEN 1 AND 1024),
    PRIMARY KEY (task_id, position)
) STRICT, WITHOUT ROWID;

-- Which tasks have listed a record.
CREATE INDEX idx_listed_provider ON ing_listed_id (provider_id);
