#pragma once

// What the floors on SQLite share: prepared statements with numbered parameters, and a connection
// that is set up as the store's writer. All end the process with a message on any failure: a floor
// that went wrong is no floor.

#include <sqlite3.h>
#include <time.h>

enum { parameters_max = 32 };

struct statement {
    sqlite3_stmt* made;
    int place[parameters_max + 1];  // Of $1 to $32: SQLite numbers them by first appearance.
};

// The database must have been made by the server.
sqlite3* floor_connect(const char* path);
void floor_disconnect(sqlite3* db);

void prepare(sqlite3* db, struct statement* s, const char* text);
void text(struct statement* s, int n, const char* value);  // It outlives the run.
void integer(struct statement* s, int n, long long value);
void real(struct statement* s, int n, double value);
void null(struct statement* s, int n);

// Runs it to its end; the first column of its first row, or 0. A value that was not bound is a
// constraint that fails.
long long run(struct statement* s);
// The next row of what was not run yet: 1, or 0 at its end.
int row(struct statement* s);
// Ends the process if the last statement did not change just one row.
void one_row(sqlite3* db, const char* what);

void time_text(char* to, time_t at);  // 32 bytes.
// Digits that look like a hash: they must hit the unique index all over, as hashes do.
void hex(char* to, int digits, unsigned long long seed, unsigned long long number);
