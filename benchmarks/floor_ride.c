#include "benchmarks/floor_ride.h"

#include "benchmarks/floor_statement.h"
#include "benchmarks/pawl_statements.h"
#include "benchmarks/rides_statements.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct floor {
    sqlite3* db;
    unsigned long long seed;  // Differs between runs on one database.
    unsigned long long rides;
    char now[32];
    char lease_until[32];
    char expires_at[32];
    struct statement begin, commit;
    struct statement find_key, claim_key, find_user, insert_ride, insert_audit, insert_key;
    struct statement set_charge, insert_job, finish_key, insert_key_events, insert_key_reference,
        find_claimed_id, move_key;
};

static const char origin[] = "127.0.0.1";
static const char email[] = "jane@example.com";
static const char call_target[] = "stripe http://127.0.0.1:12111 account key 0123456789ab";
static const char params[] =
    "{\"origin_lat\":47.61,\"origin_lon\":-122.33,\"target_lat\":47.66,\"target_lon\":-122.35}";

struct floor* floor_open(const char* path) {
    struct floor* f = calloc(1, sizeof *f);
    if (f == NULL) exit(1);
    f->db = floor_connect(path);
    prepare(f->db, &f->begin, "BEGIN IMMEDIATE");
    prepare(f->db, &f->commit, "COMMIT");
    prepare(f->db, &f->find_key, pawl_find_key);
    prepare(f->db, &f->claim_key, pawl_claim_key);
    prepare(f->db, &f->find_user, rides_find_user);
    prepare(f->db, &f->insert_ride, rides_insert_ride);
    prepare(f->db, &f->insert_audit, rides_insert_audit);
    prepare(f->db, &f->insert_key, pawl_insert_key);
    prepare(f->db, &f->set_charge, rides_set_charge);
    prepare(f->db, &f->insert_job, pawl_insert_job);
    prepare(f->db, &f->finish_key, pawl_finish_key);
    prepare(f->db, &f->insert_key_events, pawl_insert_key_events);
    prepare(f->db, &f->insert_key_reference, pawl_insert_key_reference);
    prepare(f->db, &f->find_claimed_id, pawl_find_claimed_id);
    prepare(f->db, &f->move_key, pawl_move_key);
    sqlite3_randomness(sizeof f->seed, &f->seed);
    return f;
}

void floor_close(struct floor* f) {
    floor_disconnect(f->db);
    free(f);
}

void floor_begin(struct floor* f) {
    run(&f->begin);
    const time_t now = time(NULL);
    time_text(f->now, now);
    time_text(f->lease_until, now + 30);
    time_text(f->expires_at, now + 72 * 3600);
}

void floor_commit(struct floor* f) {
    run(&f->commit);
}

static void insert_ride(struct floor* f, struct floor_ride* ride) {
    struct statement* s = &f->insert_ride;
    text(s, 1, f->now);
    integer(s, 2, ride->key_id);
    real(s, 3, 47.61);
    real(s, 4, -122.33);
    real(s, 5, 47.66);
    real(s, 6, -122.35);
    integer(s, 7, 2000);
    text(s, 8, "usd");
    text(s, 9, "rides");
    integer(s, 10, ride->user);
    ride->ride_id = run(s);
    s = &f->insert_audit;
    text(s, 1, "created");
    text(s, 2, f->now);
    text(s, 3, params);
    text(s, 4, origin);
    integer(s, 5, ride->ride_id);
    text(s, 6, "ride");
    integer(s, 7, ride->user);
    run(s);
}

static void ride_created(char* to, size_t size, const struct floor_ride* ride) {
    snprintf(
        to,
        size,
        "{\"ride\":%lld,\"user\":%lld,\"amount\":2000,\"currency\":\"usd\",\"customer\":\"cus_"
        "jane\",\"email\":\"%s\"}",
        ride->ride_id,
        ride->user,
        email
    );
}

static void call_key_of(char* to, const struct floor* f, const struct floor_ride* ride) {
    hex(to, 64, f->seed + 2, ride->number);
}

// `point` is the transaction's new recovery point: ride_created, or started if each phase has its
// own commit.
static void insert_key(
    struct floor* f, const struct floor_ride* ride, const char* point, const char* data
) {
    char key[48], hash[33], fingerprint[65], call_key[65];
    const int called = strcmp(point, "started") != 0;
    snprintf(key, sizeof key, "bench-%llx-%llu", f->seed & 0xffff, ride->number);
    hex(hash, 32, f->seed, ride->number);
    hex(fingerprint, 64, f->seed + 1, ride->number);
    call_key_of(call_key, f, ride);
    struct statement* s = &f->insert_key;
    integer(s, 1, ride->key_id);
    text(s, 2, hash);
    text(s, 3, "rides");
    text(s, 4, email);
    text(s, 5, key);
    text(s, 6, "book_ride");
    text(s, 7, "POST");
    text(s, 8, "/rides");
    text(s, 9, origin);
    text(s, 10, fingerprint);
    integer(s, 11, 1);
    text(s, 12, params);
    text(s, 13, f->lease_until);
    text(s, 14, point);
    text(s, 15, data);
    text(s, 16, called ? call_key : NULL);
    text(s, 17, called ? f->now : NULL);
    integer(s, 18, 0);
    text(s, 19, f->now);
    null(s, 20);
    integer(s, 21, 0);
    text(s, 22, called ? call_target : NULL);
    integer(s, 23, 1);
    run(s);
}

// As long as the server's.
static void insert_key_events(struct floor* f, const struct floor_ride* ride) {
    static const char* const events =
        "{\"events\":[{\"at\":\"2027-01-15T08:00:00.000Z\",\"what\":\"claimed\",\"by\":\"client\","
        "\"point\":"
        "\"started\"},{\"at\":\"2027-01-15T08:00:00.000Z\",\"what\":\"phase\",\"point\":"
        "\"started\","
        "\"took_us\":100},{\"at\":\"2027-01-15T08:00:00.001Z\",\"what\":\"called\",\"point\":"
        "\"ride_created\","
        "\"to\":\"stripe http://127.0.0.1:12111 account key "
        "6b13980be180\",\"result\":\"Charge\",\"status\":200,"
        "\"request_id\":\"req_9270d7116e5703\",\"took_us\":500},{\"at\":\"2027-01-15T08:00:00."
        "001Z\",\"what\":"
        "\"kept\",\"point\":\"ride_created\",\"result\":\"Charge\",\"took_us\":50},{\"at\":"
        "\"2027-01-15T08:00:00.001Z\",\"what\":\"phase\",\"point\":\"charge_created\",\"took_us\":"
        "50},{\"at\":"
        "\"2027-01-15T08:00:00.001Z\",\"what\":\"answered\",\"point\":\"finished\",\"status\":201}]"
        "}";
    struct statement* s = &f->insert_key_events;
    integer(s, 1, ride->key_id);
    integer(s, 2, 1);
    integer(s, 3, 0);
    text(s, 4, events);
    run(s);
}

static void reference(
    struct floor* f, const struct floor_ride* ride, const char* name, const char* id
) {
    struct statement* s = &f->insert_key_reference;
    integer(s, 1, ride->key_id);
    text(s, 2, name);
    text(s, 3, id);
    run(s);
}

static void reference_request_and_ride(struct floor* f, const struct floor_ride* ride) {
    char request[48], id[24];
    snprintf(request, sizeof request, "%012llx-%llx", f->seed & 0xffffffffffff, ride->number);
    snprintf(id, sizeof id, "%lld", ride->ride_id);
    reference(f, ride, "request", request);
    reference(f, ride, "ride", id);
}

static void claim(struct floor* f, struct floor_ride* ride) {
    char hash[33];
    ride->number = ++f->rides;
    hex(hash, 32, f->seed, ride->number);
    text(&f->find_key, 1, hash);
    run(&f->find_key);
    text(&f->claim_key, 1, hash);
    run(&f->claim_key);
    text(&f->find_claimed_id, 1, hash);
    ride->key_id = run(&f->find_claimed_id);
}

static void create_ride(struct floor* f, struct floor_ride* ride) {
    text(&f->find_user, 1, email);
    ride->user = run(&f->find_user);
    insert_ride(f, ride);
}

void floor_first(struct floor* f, struct floor_ride* ride) {
    char data[256];
    claim(f, ride);
    create_ride(f, ride);
    reference_request_and_ride(f, ride);
    ride_created(data, sizeof data, ride);
    insert_key(f, ride, "ride_created", data);
}

static void insert_job(
    struct floor* f, const struct floor_ride* ride, const char* kind, const char* args
) {
    char jid[25];
    hex(jid, 24, f->seed + 3 + (unsigned long long)strlen(kind), ride->number);
    struct statement* s = &f->insert_job;
    text(s, 1, jid);
    text(s, 2, "default");
    text(s, 3, kind);
    text(s, 4, args);
    text(s, 5, f->now);
    integer(s, 6, ride->key_id);
    text(s, 7, f->now);
    run(s);
}

static void charge_of(char* to, size_t size, const struct floor* f, const struct floor_ride* ride) {
    snprintf(to, size, "ch_%04llx%08llu", f->seed & 0xffff, ride->number);
}

static void keep_charge(struct floor* f, const struct floor_ride* ride) {
    char charge[32];
    charge_of(charge, sizeof charge, f, ride);
    integer(&f->set_charge, 1, ride->ride_id);
    text(&f->set_charge, 2, charge);
    run(&f->set_charge);
}

static void finish(struct floor* f, const struct floor_ride* ride, const char* from) {
    char charge[32], args[256], headers[128], body[256];
    charge_of(charge, sizeof charge, f, ride);
    snprintf(
        args,
        sizeof args,
        "{\"ride\":%lld,\"amount\":2000,\"currency\":\"usd\",\"email\":\"%s\"}",
        ride->ride_id,
        email
    );
    insert_job(f, ride, "send_receipt", args);
    insert_job(f, ride, "add_points", "{\"user\":2,\"points\":20}");
    snprintf(
        headers,
        sizeof headers,
        "{\"headers\":[{\"name\":\"Location\",\"value\":\"/rides/%lld\"}]}",
        ride->ride_id
    );
    snprintf(
        body,
        sizeof body,
        "{\"ride\":%lld,\"charge\":\"%s\",\"amount\":2000,\"currency\":\"usd\","
        "\"message\":\"Paid. Your rocket is on its way.\"}",
        ride->ride_id,
        charge
    );
    struct statement* s = &f->finish_key;
    integer(s, 1, ride->key_id);
    integer(s, 2, 1);
    text(s, 3, from);
    integer(s, 4, 201);
    text(s, 5, "application/json");
    text(s, 6, headers);
    text(s, 7, body);
    text(s, 8, f->now);
    text(s, 9, f->expires_at);
    run(s);
    one_row(f->db, "finish_key");
    insert_key_events(f, ride);
    reference(f, ride, "charge", charge);
}

void floor_second(struct floor* f, const struct floor_ride* ride) {
    keep_charge(f, ride);
    finish(f, ride, "ride_created");
}

static void move(
    struct floor* f,
    const struct floor_ride* ride,
    const char* from,
    const char* to,
    const char* data
) {
    char call_key[65];
    call_key_of(call_key, f, ride);
    struct statement* s = &f->move_key;
    integer(s, 1, ride->key_id);
    integer(s, 2, 1);
    text(s, 3, from);
    text(s, 4, to);
    text(s, 5, data);
    text(s, 6, f->lease_until);
    text(s, 7, call_key);
    text(s, 8, f->now);
    integer(s, 9, 0);
    text(s, 10, f->now);
    text(s, 11, call_target);
    run(s);
    one_row(f->db, "move_key");
}

void floor_phase(struct floor* f, struct floor_ride* ride, int phase) {
    char data[256];
    if (phase == 0) {
        claim(f, ride);
        return insert_key(f, ride, "started", "{}");
    }
    if (phase == 3) return finish(f, ride, "charge_created");
    if (phase == 1) {
        create_ride(f, ride);
        reference_request_and_ride(f, ride);
    } else {
        keep_charge(f, ride);
    }
    ride_created(data, sizeof data, ride);
    move(
        f,
        ride,
        phase == 1 ? "started" : "ride_created",
        phase == 1 ? "ride_created" : "charge_created",
        data
    );
}
