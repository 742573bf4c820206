#pragma once

// The least work of a job on SQLite: the statements for staging, claiming, marking and finishing
// it, from the same .sql files as the server's, with values of the same shape. No savepoints, no
// handler, no poll for jobs. floor_jobs_test.cpp compares the statements with a service's.

#ifdef __cplusplus
extern "C" {
#endif

struct floor_jobs;

enum { claimed_max = 1000 };

// The server must have created the database. All functions end the process with a message on any
// failure.
struct floor_jobs* floor_jobs_open(const char* path);
void floor_jobs_close(struct floor_jobs* f);

void floor_jobs_begin(struct floor_jobs* f);
void floor_jobs_commit(struct floor_jobs* f);
void floor_jobs_stage(struct floor_jobs* f, int how_many);
// Claims at most `limit` jobs, which replace those claimed before; returns their number. They are
// numbered from 0.
int floor_jobs_claim(struct floor_jobs* f, int limit);
void floor_jobs_mark(struct floor_jobs* f, int number);  // Marks that it is called now.
void floor_jobs_finish(struct floor_jobs* f, int number);

#ifdef __cplusplus
}
#endif
