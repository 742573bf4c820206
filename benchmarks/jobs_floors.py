"""The least work of jobs on their database: the floors of ./bench jobs.

Both run the server's own statements, from the same .sql files: on SQLite the loop of floor_jobs_sqlite.c, on PostgreSQL
pgbench. One job at a time is a statement and a commit each there; a hundred are procedures inside the database, which do not
wait for a client.
"""
import os
import re
import subprocess

import processes
from measuring import BIN
from postgres_floors import filled, statements
from processes import Failed

SOON = "now() + interval '60 seconds'"
LONG_AGO = "'-infinity'"
# With a space: pgbench would read :false as a variable.
ARGS = """'{"number":' || :n || ',"poison": false}'"""
FILLED = 200_000   # Jobs at the start of the floor of working.

# Like the server: jobs claimed together are marked and finished together.
PROCEDURES = """
CREATE TABLE IF NOT EXISTS floor_rows (how_many INTEGER, jobs JSON);

-- A client has these texts at hand.
CREATE OR REPLACE PROCEDURE floor_prepare(how_many INTEGER) LANGUAGE plpgsql AS $floor$
BEGIN
    INSERT INTO floor_rows
    SELECT how_many, json_agg(json_build_object('p1', left(md5(n::text), 24), 'p2', 'default', 'p3', 'bench_noop', 'p4', {args},
                                                'p5', now(), 'p6', NULL, 'p7', now()))
    FROM generate_series(1, how_many) AS n;
    COMMIT;
END $floor$;

CREATE OR REPLACE PROCEDURE floor_stage(how_many INTEGER) LANGUAGE plpgsql AS $floor$
DECLARE
    prepared JSON := (SELECT jobs FROM floor_rows WHERE floor_rows.how_many = floor_stage.how_many LIMIT 1);
BEGIN
    {insert_jobs};
    COMMIT;
END $floor$;

CREATE OR REPLACE PROCEDURE floor_work(how_many INTEGER, calls BOOLEAN) LANGUAGE plpgsql AS $floor$
DECLARE
    ids BIGINT[] := '{{}}';
    attempts INTEGER[] := '{{}}';
    touched INTEGER;
    job RECORD;
BEGIN
    FOR job IN {claim_jobs} LOOP
        ids := ids || job.id;
        attempts := attempts || job.attempt;
    END LOOP;
    COMMIT;
    IF calls THEN
        FOR i IN 1..cardinality(ids) LOOP
            {mark_job_called};
        END LOOP;
        COMMIT;
    END IF;
    FOR i IN 1..cardinality(ids) LOOP
        {delete_job};
        GET DIAGNOSTICS touched = ROW_COUNT;
        IF touched <> 1 THEN RAISE 'job % was not finished', ids[i]; END IF;
    END LOOP;
    COMMIT;
END $floor$;
"""


def text(sql, *values):
    return filled(sql, *values).rstrip(';')


def insert(sql, number):
    jid = f'left(md5(({number})::text), 24)'
    return filled(sql['insert_job'], jid, "'default'", "'bench_noop'", ARGS.replace(':n', number), 'now()', 'NULL', 'now()')


def procedures():
    sql = statements()
    return PROCEDURES.format(
        args=ARGS.replace(':n', 'n'),
        insert_jobs=text(sql['insert_jobs'], 'prepared'),
        claim_jobs=text(sql['claim_jobs'], "'default'", 'now()', SOON, 'how_many', LONG_AGO, 'NULL', '0', "'[]'", '7', '1'),
        mark_job_called=text(sql['mark_job_called'], 'ids[i]', 'attempts[i]', 'now()'),
        delete_job=text(sql['delete_job'], 'ids[i]', 'attempts[i]'))


def script(part, batch, calls):
    """pgbench's; each run of it is `batch` jobs."""
    if batch > 1:
        stage = [f'CALL floor_stage({batch});']
        work = [f'CALL floor_work({batch}, {str(calls).lower()});']
        return {'stage': stage, 'work': work, 'both': stage + work}[part]
    sql = statements()
    stage = ['\\set n random(1, 9000000000000000)', insert(sql, ':n')]
    work = [filled(sql['claim_jobs'], "'default'", 'now()', SOON, '1', LONG_AGO, 'NULL', '0', "'[]'", '7', '1').rstrip(';') + ' \\gset']
    if calls:
        work.append(filled(sql['mark_job_called'], ':id', ':attempt', 'now()'))
    work.append(filled(sql['delete_job'], ':id', ':attempt'))
    return {'stage': stage, 'work': work, 'both': stage + work}[part]


class PostgresFloor:
    """pgbench on a database of its own, with one connection for each worker."""

    def __init__(self, cluster, folder, pgbench):
        self.cluster, self.folder, self.pgbench = cluster, folder, pgbench

    def rate(self, part, case, seen, seconds):
        del seen   # It shares no transactions.
        self.cluster.sql('floor', procedures())
        left = FILLED if part == 'work' else 1_000 * max(case.workers, 1)
        for jobs in {left, case.batch}:
            self.cluster.sql('floor', f'CALL floor_prepare({jobs});')
        self.cluster.sql('floor', f'CALL floor_stage({left});')
        path = os.path.join(self.folder, 'floor.sql')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('\n'.join(script(part, case.batch, case.handler == 'call')) + '\n')
        done = subprocess.run(
            [os.path.join(self.pgbench, 'pgbench'), '-n', '-M', 'prepared', '-f', path, '-c', str(case.workers), '-j', '2',
             '-T', str(max(1, round(seconds))), self.cluster.url('floor')], capture_output=True, text=True, check=False)
        found = re.search(r'tps = ([\d.]+)', done.stdout)
        if done.returncode != 0 or not found:
            raise Failed(f'pgbench: {done.stderr[-1500:]}')
        if part == 'work' and self.cluster.sql('floor', 'SELECT count(*) FROM pawl_jobs') == '0':
            raise Failed('the floor ran out of jobs: run it for a shorter time')
        return float(found.group(1)) * case.batch


class SqliteFloor:
    """The C loop, with the server's number of commits per job, and of jobs per claim."""

    def __init__(self, path):
        self.path = path

    def rate(self, part, case, seen, seconds):
        done = processes.run_json(
            [os.path.join(BIN, 'bench_floor_jobs_sqlite'), self.path(), str(seconds), part, str(case.batch),
             f'{claimed_at_once(part, case, seen):.2f}', f'{works_in_a_commit(part, case, seen):.2f}', case.handler])
        return done['rate_per_s']


def claimed_at_once(part, case, seen):
    """Jobs in a claim, from the server's works per job: claims, jobs staged at once, and a finish of each job
    with a transaction; jobs that call are marked and finished together, as they were claimed."""
    staging = 1 / case.batch if part == 'both' else 0
    claims = (seen['works_per_job'] - staging) / 3 if case.handler == 'call' else seen['works_per_job'] - staging - 1
    return min(max(1 / claims, 1.0), 1000.0) if claims > 0.001 else 1000.0 if part != 'stage' else 1.0


def works_in_a_commit(part, case, seen):
    """Works of the loop, in which each job's mark and finish are separate works: so it commits as often as the server."""
    if part == 'stage' or case.handler != 'call':
        return max(1.0, seen['works_per_commit'])
    commits = seen['works_per_job'] / max(1.0, seen['works_per_commit'])
    works = 1 / claimed_at_once(part, case, seen) + 2 + (1 / case.batch if part == 'both' else 0)
    return max(1.0, works / commits)
