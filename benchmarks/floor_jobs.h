#pragma once

// What a job costs SQLite and nothing else: the statements that staging, claiming, marking and
// finishing it take, their text cut from the same .sql files as the server's, with values of the
// same shape. No savepoints, no handler, no look whether there is a job. floor_jobs_test.cpp checks
// against a service that these are its statements.

#ifdef __cplusplus
extern "C" {
#endif

struct floor_jobs;

enum { claimed_max = 1000 };

// The database must have been made by the server. Ends the process with a message on any failure,
// as all of these do.
struct floor_jobs* floor_jobs_open(const char* path);
void floor_jobs_close(struct floor_jobs* f);

void floor_jobs_begin(struct floor_jobs* f);
void floor_jobs_commit(struct floor_jobs* f);
void floor_jobs_stage(struct floor_jobs* f, int how_many);
// At most `limit`, which replace those claimed before; returns how many. They are numbered from 0.
int floor_jobs_claim(struct floor_jobs* f, int limit);
void floor_jobs_mark(struct floor_jobs* f, int number);  // That it is called now.
void floor_jobs_finish(struct floor_jobs* f, int number);

#ifdef __cplusplus
}
#endif
