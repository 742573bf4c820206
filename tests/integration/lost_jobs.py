"""Jobs that a server may have lost in the middle of their work: what they sent may be sent twice."""


def keep_lost_jobs(world):
    """From now on the database itself keeps the jobs that a server loses: another one ends it, or its lease is over.

    A query by the case may come too late, and on a busy machine a lease may end without a pause.
    """
    world.change("CREATE TABLE lost_jobs (jid TEXT NOT NULL);"
                 "CREATE FUNCTION keep_jobs_of_ended() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO lost_jobs"
                 " SELECT jid FROM pawl_jobs WHERE state = 'running' AND server_id = OLD.id; RETURN OLD; END $$;"
                 'CREATE TRIGGER keep_jobs AFTER DELETE ON pawl_servers FOR EACH ROW EXECUTE FUNCTION keep_jobs_of_ended();'
                 "CREATE FUNCTION keep_rescued_job() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                 " INSERT INTO lost_jobs VALUES (OLD.jid); RETURN NULL; END $$;"
                 "CREATE TRIGGER keep_rescued AFTER UPDATE ON pawl_jobs FOR EACH ROW"
                 " WHEN (OLD.state = 'running' AND NEW.state = 'ready' AND OLD.lease_until <= clock_timestamp())"
                 " EXECUTE FUNCTION keep_rescued_job()")


def lost_jobs(world):
    return {jid for (jid,) in world.rows('SELECT jid FROM lost_jobs')}


def jobs_at_work(world):
    return {jid for (jid,) in world.rows("SELECT jid FROM pawl_jobs WHERE state = 'running'")}
