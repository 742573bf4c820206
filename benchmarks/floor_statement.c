#include "benchmarks/floor_statement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(sqlite3* db, int code, int wanted, const char* what) {
    if (code == wanted) return;
    fprintf(stderr, "floor: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

sqlite3* floor_connect(const char* path) {
    // As in the store, once for the process: no mutex around each allocation.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    sqlite3* db = NULL;
    check(db, sqlite3_open_v2(path, &db, flags, NULL), SQLITE_OK, path);
    // Settings of the store's writer (src/store/sqlite/connection.cpp).
    const char* settings =
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"
        "PRAGMA cache_size = -8000; PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = "
        "67108864; PRAGMA wal_autocheckpoint = 4000;";
    check(db, sqlite3_exec(db, settings, NULL, NULL, NULL), SQLITE_OK, settings);
    return db;
}

void floor_disconnect(sqlite3* db) {
    sqlite3_stmt* made;
    while ((made = sqlite3_next_stmt(db, NULL)) != NULL) sqlite3_finalize(made);
    sqlite3_close(db);
}

void prepare(sqlite3* db, struct statement* s, const char* text) {
    check(
        db,
        sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, &s->made, NULL),
        SQLITE_OK,
        text
    );
    for (int n = 1; n <= parameters_max; ++n) {
        char name[8];
        snprintf(name, sizeof name, "$%d", n);
        s->place[n] = sqlite3_bind_parameter_index(s->made, name);
    }
}

void text(struct statement* s, int n, const char* value) {
    sqlite3_bind_text(s->made, s->place[n], value, -1, SQLITE_STATIC);
}
void integer(struct statement* s, int n, long long value) {
    sqlite3_bind_int64(s->made, s->place[n], value);
}
void real(struct statement* s, int n, double value) {
    sqlite3_bind_double(s->made, s->place[n], value);
}
void null(struct statement* s, int n) {
    sqlite3_bind_null(s->made, s->place[n]);
}

int row(struct statement* s) {
    const int code = sqlite3_step(s->made);
    if (code == SQLITE_ROW) {
        // Steps over the row like a reader.
        for (int column = 1; column < sqlite3_column_count(s->made); ++column)
            sqlite3_column_text(s->made, column);
        return 1;
    }
    check(sqlite3_db_handle(s->made), code, SQLITE_DONE, sqlite3_sql(s->made));
    sqlite3_reset(s->made);
    return 0;
}

long long run(struct statement* s) {
    long long first = 0;
    for (int rows = 0; row(s); ++rows)
        if (rows == 0) first = sqlite3_column_int64(s->made, 0);
    return first;
}

void one_row(sqlite3* db, const char* what) {
    if (sqlite3_changes(db) == 1) return;
    fprintf(stderr, "floor: %s touched %d rows\n", what, sqlite3_changes(db));
    exit(1);
}

void time_text(char* to, time_t at) {
    struct tm parts;
    gmtime_r(&at, &parts);
    strftime(to, 32, "%Y-%m-%dT%H:%M:%S.000Z", &parts);
}

void hex(char* to, int digits, unsigned long long seed, unsigned long long number) {
    unsigned long long state = seed ^ (number * 0x9e3779b97f4a7c15ULL);
    for (int i = 0; i < digits; i += 16) {
        state += 0x9e3779b97f4a7c15ULL;
        unsigned long long z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        char part[17];
        snprintf(part, sizeof part, "%016llx", z ^ (z >> 31));
        memcpy(to + i, part, digits - i < 16 ? (size_t)(digits - i) : 16);
    }
    to[digits] = '\0';
}
