#pragma once

// What a ride costs SQLite and nothing else: the statements that the server runs for one, their
// text cut from the same .sql files, with values of the same shape. No savepoints, no HTTP, no
// call. floor_ride_test.cpp checks against a running server that these are its statements, in its
// order, and that the rows come out alike.

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

// The database must have been made by the server, with its riders. Ends the process with a message
// on any failure, as all of these do: a floor that went wrong is no floor.
struct floor* floor_open(const char* path);
void floor_close(struct floor* f);

void floor_begin(struct floor* f);
void floor_commit(struct floor* f);
void floor_first(struct floor* f, struct floor_ride* ride);         // Claim and first phase (T1).
void floor_second(struct floor* f, const struct floor_ride* ride);  // Keep and last phase (T2).

// The same ride with a commit for each atomic phase, as the article has it: claim, create, keep,
// finish.
enum { floor_phases = 4 };
void floor_phase(struct floor* f, struct floor_ride* ride, int phase);

#ifdef __cplusplus
}
#endif
