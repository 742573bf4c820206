"""The life of keys as procedures of the database, made of the server's own statements."""
from postgres_floors import BODY, PARAMS, POINT, filled, statements

IN_FLIGHT = 64   # Requests of a busy server in flight.
RENEWED = 20   # Every 20th key is renewed, three times.
MOVED = 4   # Every 4th key has a second call.
REAPED_AT_ONCE = 500

# A prototype to be measured: partitions by ranges of ids, which ascend with time; the primary key has the id in it.
PART_KEYS = 50_000
PARTITIONED = """
ALTER TABLE pawl_idempotency_keys RENAME TO plain;
CREATE TABLE pawl_idempotency_keys (LIKE plain INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (id)) PARTITION BY RANGE (id);
DROP TABLE plain;
CREATE INDEX pawl_idempotency_keys_open ON pawl_idempotency_keys (id) WHERE status = 'open';
CREATE INDEX pawl_idempotency_keys_expiry ON pawl_idempotency_keys (expires_at) WHERE expires_at IS NOT NULL;
"""

LIVE = """
CREATE OR REPLACE PROCEDURE live(first BIGINT, how_many BIGINT) LANGUAGE plpgsql AS $live$
DECLARE
    ids BIGINT[];
    job_ids BIGINT[];
    i INTEGER;
    n BIGINT := first;
    job RECORD;
    touched INTEGER;
BEGIN
    WHILE n < first + how_many LOOP
        ids := '{{}}';
        FOR i IN 1..{in_flight} LOOP
            n := n + 1;
            {claim_key} INTO touched;
            ids[i] := touched;
            {more_partitions}
            {insert_key};
        END LOOP;
        COMMIT;
        FOR i IN 1..{in_flight} LOOP
            IF ids[i] % {renewed} = 0 THEN
                {renew}; {renew}; {renew};
            END IF;
            IF ids[i] % {moved} = 0 THEN
                {move};
            END IF;
        END LOOP;
        COMMIT;
        FOR i IN 1..{in_flight} LOOP
            {finish};
            GET DIAGNOSTICS touched = ROW_COUNT;
            IF touched <> 1 THEN RAISE 'key % was not finished', ids[i]; END IF;
            {insert_job};
        END LOOP;
        COMMIT;
        job_ids := '{{}}';
        FOR job IN {claim_jobs} LOOP
            job_ids := job_ids || job.id;
        END LOOP;
        COMMIT;
        FOR i IN 1..cardinality(job_ids) LOOP
            {delete_job};
        END LOOP;
        COMMIT;
    END LOOP;
END $live$;
"""

# Like the server's reaper, except that a DROP removes the keys of a batch of registry rows.
REAP_PARTITIONS = """
CREATE OR REPLACE PROCEDURE reap_partitions() LANGUAGE plpgsql AS $reap$
DECLARE
    part RECORD;
    batch BIGINT[];
    last BIGINT;
BEGIN
    FOR part IN SELECT inhrelid::regclass::text AS name FROM pg_inherits
                WHERE inhparent = 'pawl_idempotency_keys'::regclass ORDER BY inhrelid LOOP
        last := 0;
        LOOP
            EXECUTE format('SELECT array_agg(id) FROM (SELECT id FROM %I WHERE id > $1 ORDER BY id LIMIT {at_once}) AS next_ids',
                           part.name) INTO batch USING last;
            EXIT WHEN batch IS NULL;
            UPDATE pawl_key_registry
            SET state = 'expired', outcome = k.response_status, expired_at = now(), generation = k.generation,
                location = (SELECT h ->> 'value' FROM json_array_elements(k.response_headers::json) AS h
                            WHERE h ->> 'name' = 'Location')
            FROM pawl_idempotency_keys AS k
            WHERE pawl_key_registry.id = ANY (batch) AND k.id = pawl_key_registry.id AND pawl_key_registry.state = 'live';
            last := batch[cardinality(batch)];
            COMMIT;
        END LOOP;
        EXECUTE format('DROP TABLE %I', part.name);
        COMMIT;
    END LOOP;
END $reap$;
"""

MORE_PARTITIONS = """
IF EXISTS (SELECT 1 FROM pg_partitioned_table WHERE partrelid = 'pawl_idempotency_keys'::regclass)
   AND to_regclass('pawl_idempotency_keys_part' || ids[i] / {part}) IS NULL THEN
    EXECUTE format('CREATE TABLE pawl_idempotency_keys_part%s PARTITION OF pawl_idempotency_keys FOR VALUES FROM (%s) TO (%s)',
                   ids[i] / {part}, ids[i] / {part} * {part}, (ids[i] / {part} + 1) * {part});
END IF;"""

SOON = "now() + interval '30 seconds'"
LONG_AGO = "'-infinity'"
HASH = 'md5(n::text)'
HEX = 'md5(n::text) || md5(n::text)'
TARGET = "'stripe http://127.0.0.1:12111 account key 0123456789ab'"
HEADERS = "'[{\"name\":\"Location\",\"value\":\"/rides/1\"}]'"


def text(sql, *values):
    """A statement with its values, for plpgsql, without a semicolon."""
    return filled(sql, *values).rstrip(';')


def procedures():
    sql = statements()
    key = 'ids[i]'
    parts = {
        'claim_key': text(sql['claim_key'], HASH),
        'more_partitions': MORE_PARTITIONS.format(part=PART_KEYS).strip(),
        'insert_key': text(
            sql['insert_key'], key, HASH, "'rocket-rides'", "'jane@example.com'", 'n::text', "'book_ride'", "'POST'", "'/rides'",
            "'127.0.0.1'", HEX, '1', PARAMS, SOON, "'ride_created'", POINT, HEX, 'now()', 'false', 'now()', 'NULL', '0',
            TARGET, '7'),
        'renew': text(sql['renew_lease'], key, '1', "'ride_created'", SOON),
        'move': text(sql['move_key'], key, '1', "'ride_created'", "'charge_created'", POINT, SOON, HEX, 'now()', 'false', 'now()',
                     TARGET),
        # Expired at once, for the reaper.
        'finish': text(
            sql['finish_key'], key, '1', f"CASE WHEN ids[i] % {MOVED} = 0 THEN 'charge_created' ELSE 'ride_created' END", '201',
            "'application/json'", HEADERS, BODY, 'now()', 'now()'),
        'insert_job': text(sql['insert_job'], 'left(md5(n::text), 24)', "'default'", "'send_receipt'", POINT, 'now()', key, 'now()'),
        'claim_jobs': text(sql['claim_jobs'], "'default'", 'now()', SOON, str(IN_FLIGHT), LONG_AGO, 'NULL', '0', "'[]'", '7', '1'),
        'delete_job': text(sql['delete_job'], 'job_ids[i]', '1'),
    }
    live = LIVE.format(in_flight=IN_FLIGHT, renewed=RENEWED, moved=MOVED, **parts)
    return live + REAP_PARTITIONS.format(at_once=REAPED_AT_ONCE)
