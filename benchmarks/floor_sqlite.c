// bench_floor_sqlite DATABASE SECONDS WORKS_A_COMMIT: how many rides a second SQLite could do at
// most if it ran only their statements. A ride is two works, as in the server (T1 and T2; the call
// between them takes no time here); one commit has the average number of works of the server's
// batches, which may be a fraction. With `phases` instead: a commit for each atomic phase, four a
// ride, as in the article. Prints a line of JSON.

#include "benchmarks/floor_ride.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

// A ring of the rides whose first work is done; their second comes first in a later commit.
enum { between_max = 4096 };
struct ring {
    struct floor_ride rides[between_max];
    unsigned first, count;
};

// One commit with this many works. Returns the number of rides that it ended.
static long commit_batch(struct floor* f, struct ring* ring, long works) {
    long ended = 0;
    const unsigned ready = ring->count;  // Rides begun in this commit end in a later one.
    floor_begin(f);
    for (long n = 0; n < works; ++n) {
        if (ended < (long)ready) {
            floor_second(f, &ring->rides[ring->first]);
            ring->first = (ring->first + 1) % between_max;
            --ring->count;
            ++ended;
        } else {
            floor_first(f, &ring->rides[(ring->first + ring->count) % between_max]);
            ++ring->count;
        }
    }
    floor_commit(f);
    return ended;
}

static long commit_phases(struct floor* f) {
    struct floor_ride ride;
    for (int phase = 0; phase < floor_phases; ++phase) {
        floor_begin(f);
        floor_phase(f, &ride, phase);
        floor_commit(f);
    }
    return 1;
}

int main(int argc, char** argv) {
    const double seconds = argc == 4 ? atof(argv[2]) : 0;
    const int phases = argc == 4 && strcmp(argv[3], "phases") == 0;
    const double batch = argc == 4 && !phases ? atof(argv[3]) : 1;
    if (seconds <= 0 || batch < 1 || batch > between_max) {
        fprintf(
            stderr,
            "usage: bench_floor_sqlite DATABASE SECONDS (WORKS_A_COMMIT, 1 to %d | phases)\n",
            between_max
        );
        return 2;
    }
    static struct ring ring;
    struct floor* f = floor_open(argv[1]);
    long rides = 0;
    double due = 0;
    // A new WAL grows with each commit, and its file's length must be synced too; a server's WAL
    // does not grow any more.
    for (int n = 0; n < 10; ++n) commit_batch(f, &ring, 1000);
    const double began = now();
    double ended = began;
    while (ended < began + seconds) {
        due += batch;
        const long works = (long)due;
        due -= (double)works;
        rides += phases ? commit_phases(f) : commit_batch(f, &ring, works);
        ended = now();
    }
    floor_close(f);
    printf("{\"rides\": %ld, \"rate_per_s\": %.1f}\n", rides, (double)rides / (ended - began));
    return 0;
}
