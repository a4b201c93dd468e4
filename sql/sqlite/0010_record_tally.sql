-- How many records each endpoint has: the sum of its rows. Whoever writes records adds a row in the same transaction, and waits
-- for nobody; retention adds rows up (adapter/sql/record_tally.h).
CREATE TABLE ing_record_tally (
    id          INTEGER PRIMARY KEY,
    endpoint_id INTEGER NOT NULL, -- ing_record_endpoint
    live        INTEGER NOT NULL, -- so many more, or fewer
    deleted     INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_record_tally ON ing_record_tally (endpoint_id, live, deleted);

INSERT INTO ing_record_tally (endpoint_id, live, deleted)
    SELECT endpoint_id, sum(NOT deleted), sum(deleted) FROM ing_record_state GROUP BY endpoint_id;
