#include "benchmarks/floor_jobs.h"

#include "benchmarks/floor_statement.h"
#include "benchmarks/pawl_statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct claimed {
    long long id;
    long long attempt;
};

struct floor_jobs {
    sqlite3* db;
    unsigned long long seed;  // Differs between runs on one database.
    unsigned long long staged;
    char now[32];
    char lease_until[32];
    struct claimed claimed[claimed_max];
    struct statement begin, commit;
    struct statement insert_job, claim_jobs, mark_job_called, delete_job;
};

struct floor_jobs* floor_jobs_open(const char* path) {
    struct floor_jobs* f = calloc(1, sizeof *f);
    if (f == NULL) exit(1);
    f->db = floor_connect(path);
    prepare(f->db, &f->begin, "BEGIN IMMEDIATE");
    prepare(f->db, &f->commit, "COMMIT");
    prepare(f->db, &f->insert_job, pawl_insert_job);
    prepare(f->db, &f->claim_jobs, pawl_claim_jobs);
    prepare(f->db, &f->mark_job_called, pawl_mark_job_called);
    prepare(f->db, &f->delete_job, pawl_delete_job);
    sqlite3_randomness(sizeof f->seed, &f->seed);
    return f;
}

void floor_jobs_close(struct floor_jobs* f) {
    floor_disconnect(f->db);
    free(f);
}

void floor_jobs_begin(struct floor_jobs* f) {
    run(&f->begin);
    const time_t now = time(NULL);
    time_text(f->now, now);
    time_text(f->lease_until, now + 60);
}

void floor_jobs_commit(struct floor_jobs* f) {
    run(&f->commit);
}

void floor_jobs_stage(struct floor_jobs* f, int how_many) {
    for (int n = 0; n < how_many; ++n) {
        char jid[25], args[64];
        hex(jid, 24, f->seed, ++f->staged);
        snprintf(args, sizeof args, "{\"number\":%llu,\"poison\":false}", f->staged);
        struct statement* s = &f->insert_job;
        text(s, 1, jid);
        text(s, 2, "default");
        text(s, 3, "bench_noop");
        text(s, 4, args);
        text(s, 5, f->now);
        null(s, 6);
        text(s, 7, f->now);
        run(s);
        one_row(f->db, "insert_job");
    }
}

int floor_jobs_claim(struct floor_jobs* f, int limit) {
    struct statement* s = &f->claim_jobs;
    text(s, 1, "default");
    text(s, 2, f->now);
    text(s, 3, f->lease_until);
    integer(s, 4, limit < claimed_max ? limit : claimed_max);
    text(s, 5, "1970-01-01T00:00:00.000Z");
    null(s, 6);
    integer(s, 7, 0);
    text(s, 8, "[]");
    integer(s, 9, 1);
    integer(s, 10, 1);
    int found = 0;
    while (row(s)) {
        f->claimed[found].id = sqlite3_column_int64(s->made, 0);
        f->claimed[found].attempt = sqlite3_column_int64(s->made, 5);
        ++found;
    }
    return found;
}

void floor_jobs_mark(struct floor_jobs* f, int number) {
    struct statement* s = &f->mark_job_called;
    integer(s, 1, f->claimed[number].id);
    integer(s, 2, f->claimed[number].attempt);
    text(s, 3, f->now);
    run(s);
    one_row(f->db, "mark_job_called");
}

void floor_jobs_finish(struct floor_jobs* f, int number) {
    struct statement* s = &f->delete_job;
    integer(s, 1, f->claimed[number].id);
    integer(s, 2, f->claimed[number].attempt);
    run(s);
    one_row(f->db, "delete_job");
}
