#pragma once

// Shared by the floors on SQLite: prepared statements with numbered parameters, and a connection
// that is set up like the store's writer. All end the process with a message on any failure: a
// wrong floor is worse than none.

#include <sqlite3.h>
#include <time.h>

enum { parameters_max = 32 };

struct statement {
    sqlite3_stmt* made;
    // Positions of $1 to $32: SQLite numbers them by first appearance.
    int place[parameters_max + 1];
};

// The server must have created the database.
sqlite3* floor_connect(const char* path);
void floor_disconnect(sqlite3* db);

void prepare(sqlite3* db, struct statement* s, const char* text);
void text(struct statement* s, int n, const char* value);  // `value` must outlive the run.
void integer(struct statement* s, int n, long long value);
void real(struct statement* s, int n, double value);
void null(struct statement* s, int n);

// Runs it to its end; returns the first column of its first row, or 0. A value that was not bound
// violates a constraint.
long long run(struct statement* s);
// Fetches the next row: 1, or 0 at the end.
int row(struct statement* s);
// Ends the process unless the last statement changed exactly one row.
void one_row(sqlite3* db, const char* what);

void time_text(char* to, time_t at);  // 32 bytes.
// Digits that look like a hash: they must be spread over the unique index, as hashes are.
void hex(char* to, int digits, unsigned long long seed, unsigned long long number);
