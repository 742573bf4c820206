#pragma once

// The least work of a ride on SQLite: the statements that the server runs for one, from the same
// .sql files, with values of the same shape. No savepoints, no HTTP, no call. floor_ride_test.cpp
// compares the statements, their order and the rows with a running server's.

#ifdef __cplusplus
extern "C" {
#endif

struct floor;

struct floor_ride {
    long long key_id;
    long long ride_id;
    long long user;
    unsigned long long number;  // Makes its texts unique.
};

// The server must have created the database, with its riders. All functions end the process with a
// message on any failure: a wrong floor is worse than none.
struct floor* floor_open(const char* path);
void floor_close(struct floor* f);

void floor_begin(struct floor* f);
void floor_commit(struct floor* f);
void floor_first(struct floor* f, struct floor_ride* ride);         // Claim and first phase (T1).
void floor_second(struct floor* f, const struct floor_ride* ride);  // Keep and last phase (T2).

// The same ride with a commit for each atomic phase, as in the article: claim, create, keep,
// finish.
enum { floor_phases = 4 };
void floor_phase(struct floor* f, struct floor_ride* ride, int phase);

#ifdef __cplusplus
}
#endif
