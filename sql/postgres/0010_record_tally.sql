-- How many records each endpoint has: the sum of its rows. Whoever writes records adds a row in the same transaction, and waits
-- for nobody; retention adds rows up (adapter/sql/record_tally.h).
CREATE TABLE ing_record_tally (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id integer NOT NULL, -- ing_record_endpoint
    live        bigint  NOT NULL, -- so many more, or fewer
    deleted     bigint  NOT NULL
);

CREATE INDEX idx_record_tally ON ing_record_tally (endpoint_id);

INSERT INTO ing_record_tally (endpoint_id, live, deleted)
    SELECT endpoint_id, count(*) FILTER (WHERE NOT deleted), count(*) FILTER (WHERE deleted)
      FROM ing_record_state GROUP BY endpoint_id;
