// Checks that the floor runs this server's statements: one ride over HTTP, and one by the floor's C
// loop, each with SQLite's own trace.

#include "benchmarks/floor_ride.h"

#include <pawl/database.hpp>
#include <pawl/http.hpp>

#include "apps/rides/book_ride.hpp"
#include "apps/rides/serve.hpp"
#include "apps/standins/provider.hpp"
#include "benchmarks/trace.hpp"
#include "rides/statements.hpp"
#include "src/http/transfer.hpp"

#include "src/engine/engine.hpp"
#include "src/store/store.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace pawl::bench {
namespace {

class FloorRide : public ::testing::Test {
protected:
    FloorRide() {
        std::string name = "/tmp/pawl_floor_XXXXXX";
        folder_ = ::mkdtemp(name.data());
    }
    ~FloorRide() override { std::filesystem::remove_all(folder_); }

    std::string file() const { return folder_ + "/rides.db"; }

    // Serves one ride, and returns its statements.
    std::vector<std::string> book_over_http() {
        rides::Provider provider{
            {.listen = "127.0.0.1:0",
             .smtp = "127.0.0.1:0",
             .ledger = folder_ + "/ledger",
             .mails = folder_ + "/mails"}};
        provider.start();
        rides::ServeOptions options;
        options.database = "sqlite:" + file();
        options.stripe_url = "http://127.0.0.1:" + std::to_string(provider.http_port());
        rides::Application application{options, Database::As::server};
        application.database().write([](Tx& tx) {
            (void)query<std::int64_t>(tx, rides::sql::insert_user, "joe@example.com", "cus_joe");
            (void)query<std::int64_t>(tx, rides::sql::insert_user, "jane@example.com", "cus_jane");
        });
        // Not started: no worker, completer or reaper runs statements of its own. So it has no row
        // among the servers, which its key would name.
        application.service().engine().store().set_server(1);
        HttpServer server{
            application.service(),
            {.listen = "127.0.0.1:0", .authenticate = [](const RequestHead&) {
                 return Principal{"rides", "jane@example.com"};
             }}};
        server.post<rides::BookRide>("/rides");
        server.start();
        take_trace();
        post_ride(server.port());
        auto statements = take_trace();
        server.stop(std::chrono::milliseconds{0});
        return statements;
    }

    static void post_ride(std::uint16_t port) {
        http::Transfers transfers;
        const auto sent = transfers.perform(
            {.method = "POST",
             .url = "http://127.0.0.1:" + std::to_string(port) + "/rides",
             .headers = {{"Idempotency-Key", "bench-0-123"}, {"Content-Type", "application/json"}},
             .body =
                 R"({"origin_lat": 47.61, "origin_lon": -122.33, "target_lat": 47.66, "target_lon": -122.35})"}
        );
        const auto* arrived = std::get_if<http::IncomingResponse>(&sent);
        ASSERT_NE(arrived, nullptr);
        ASSERT_EQ(arrived->status, 201) << arrived->body;
    }

    std::vector<std::string> book_by_floor() {
        auto* f = floor_open(file().c_str());
        take_trace();
        floor_ride ride{};
        floor_begin(f);
        floor_first(f, &ride);
        floor_commit(f);
        floor_begin(f);
        floor_second(f, &ride);
        floor_commit(f);
        auto statements = take_trace();
        floor_close(f);
        return statements;
    }

    void book_by_floor_in_phases() {
        auto* f = floor_open(file().c_str());
        floor_ride ride{};
        for (int phase = 0; phase < floor_phases; ++phase) {
            floor_begin(f);
            floor_phase(f, &ride, phase);
            floor_commit(f);
        }
        floor_close(f);
    }

    // For each row of a table that this ride made: the type and length of each column's value.
    std::vector<std::string> shapes(const std::string& table, const std::string& of_key) {
        sqlite3* db = nullptr;
        sqlite3_open(file().c_str(), &db);
        sqlite3_stmt* statement = nullptr;
        const auto text = "SELECT * FROM " + table + " WHERE " + of_key + " ORDER BY id";
        EXPECT_EQ(sqlite3_prepare_v2(db, text.c_str(), -1, &statement, nullptr), SQLITE_OK)
            << sqlite3_errmsg(db);
        std::vector<std::string> found;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            for (int n = 0; n < sqlite3_column_count(statement); ++n) {
                const auto type = sqlite3_column_type(statement, n);
                const auto length = type == SQLITE_TEXT ? sqlite3_column_bytes(statement, n) : 0;
                // The length of the client's key is the client's choice.
                const std::string column = sqlite3_column_name(statement, n);
                const auto rounded = column == "idempotency_key" ? 0 : length;
                found.push_back(
                    table + "." + column + " " + std::to_string(type) + " " +
                    std::to_string(rounded)
                );
            }
        }
        sqlite3_finalize(statement);
        sqlite3_close(db);
        return found;
    }

    std::vector<std::string> shapes_of_ride(int id) {
        const auto n = std::to_string(id);
        std::vector<std::string> all;
        for (const auto& [table, of_key] : std::vector<std::pair<std::string, std::string>>{
                 {"pawl_key_registry", "id = " + n},
                 {"pawl_idempotency_keys", "id = " + n},
                 {"rides", "idempotency_key_id = " + n},
                 {"audit_records", "resource_id = " + n},
                 {"pawl_jobs", "key_id = " + n}}) {
            const auto found = shapes(table, of_key);
            EXPECT_FALSE(found.empty()) << table;
            all.insert(all.end(), found.begin(), found.end());
        }
        return all;
    }

    const Tracing tracing_;
    std::string folder_;
};

TEST_F(FloorRide, runs_the_statements_of_the_servers_ride_in_the_same_order) {
    const auto of_server = book_over_http();

    const auto of_floor = book_by_floor();

    EXPECT_GE(of_server.size(), 8U);
    EXPECT_EQ(of_floor, of_server);
}

TEST_F(FloorRide, leaves_rows_of_the_same_shape_as_the_server) {
    book_over_http();

    book_by_floor();
    book_by_floor_in_phases();

    const auto of_server = shapes_of_ride(1);
    EXPECT_EQ(shapes_of_ride(2), of_server);
    EXPECT_EQ(shapes_of_ride(3), of_server);
}

}  // namespace
}  // namespace pawl::bench
