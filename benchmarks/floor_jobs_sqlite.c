// bench_floor_jobs_sqlite DATABASE SECONDS PART STAGED CLAIMED WORKS tx|call: how many jobs a
// second SQLite could do at most if it ran only their statements. PART is stage, work or both. A
// work is one unit of the server's store: staging STAGED jobs, claiming CLAIMED jobs, marking one
// job as called (for call), finishing one job. One commit has WORKS works, the average of the
// server's batches; CLAIMED and WORKS may be fractions. Prints a line of JSON.

#include "benchmarks/floor_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

struct loop {
    struct floor_jobs* f;
    int staged;
    double claimed;
    double works;
    int calls;
    double claim_due;
    double works_due;
    int open;
};

static void commit(struct loop* l) {
    if (l->open) floor_jobs_commit(l->f);
    l->open = 0;
}

// Before each work: begins a transaction if the last one is complete.
static void work(struct loop* l) {
    if (l->works_due < 1) {
        commit(l);
        l->works_due += l->works;
    }
    l->works_due -= 1;
    if (!l->open) floor_jobs_begin(l->f);
    l->open = 1;
}

static long stage(struct loop* l) {
    work(l);
    floor_jobs_stage(l->f, l->staged);
    return l->staged;
}

// Works one claim to its end; 0: there were no jobs.
static long claim_and_work(struct loop* l) {
    l->claim_due += l->claimed;
    const int limit = (int)l->claim_due;
    l->claim_due -= limit;
    work(l);
    const int claimed = floor_jobs_claim(l->f, limit);
    for (int n = 0; n < claimed; ++n) {
        if (l->calls) {
            work(l);
            floor_jobs_mark(l->f, n);
        }
        work(l);
        floor_jobs_finish(l->f, n);
    }
    return claimed;
}

static void fill(struct floor_jobs* f, int how_many) {
    for (int n = 0; n < how_many; n += 1000) {
        floor_jobs_begin(f);
        floor_jobs_stage(f, 1000);
        floor_jobs_commit(f);
    }
}

int main(int argc, char** argv) {
    const char* part = argc == 8 ? argv[3] : "";
    const int stages = strcmp(part, "stage") == 0 || strcmp(part, "both") == 0;
    const int works = strcmp(part, "work") == 0 || strcmp(part, "both") == 0;
    struct loop l = {0};
    const double seconds = argc == 8 ? atof(argv[2]) : 0;
    if (argc == 8) {
        l.staged = atoi(argv[4]);
        l.claimed = atof(argv[5]);
        l.works = atof(argv[6]);
        l.calls = strcmp(argv[7], "call") == 0;
    }
    if (seconds <= 0 || !(stages || works) || l.staged < 1 || l.claimed < 1 ||
        l.claimed > claimed_max || l.works < 1) {
        fprintf(
            stderr,
            "usage: bench_floor_jobs_sqlite DATABASE SECONDS stage|work|both STAGED CLAIMED (1 to "
            "%d) "
            "WORKS (1 and more) tx|call\n",
            claimed_max
        );
        return 2;
    }
    l.f = floor_jobs_open(argv[1]);
    // A new WAL grows with each commit, which costs more; a server's WAL has been through a
    // checkpoint.
    fill(l.f, works && !stages ? 400000 : 5000);
    long jobs = 0, done = 1;
    const double began = now();
    double ended = began;
    while (done > 0 && ended < began + seconds) {
        if (stages) done = stage(&l);
        if (works) {
            const long wanted = stages ? done : 1;
            long worked = 0;
            while (worked < wanted && (done = claim_and_work(&l)) > 0) worked += done;
            done = worked;
        }
        jobs += done;
        ended = now();
    }
    commit(&l);
    ended = now();
    floor_jobs_close(l.f);
    printf("{\"jobs\": %ld, \"rate_per_s\": %.1f}\n", jobs, (double)jobs / (ended - began));
    return 0;
}
