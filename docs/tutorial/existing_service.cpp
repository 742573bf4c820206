#include <pawl/database.hpp>
#include <pawl/http.hpp>

#include "docs/tutorial/httplib_adapter.hpp"
#include "docs/tutorial/place_order.hpp"

#include <sqlite3.h>

#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

// A shop that existed before Pawl: its own tables, made by its own script, its own HTTP framework
// and its own way to the database. Pawl adds one route that is safe to repeat.
namespace shop {

// What was there: GET /stock/{item}, by SQLite's own library.
class Stock {
public:
    explicit Stock(const char* path) {
        if (sqlite3_open(path, &database_) != SQLITE_OK) throw std::runtime_error{"no shop.db"};
        sqlite3_busy_timeout(database_, 5'000);  // Pawl's server writes to the same file.
    }
    ~Stock() { sqlite3_close(database_); }
    Stock(const Stock&) = delete;
    Stock& operator=(const Stock&) = delete;

    std::optional<std::int64_t> find(const std::string& item) const {
        sqlite3_stmt* found = nullptr;
        sqlite3_prepare_v2(
            database_, "SELECT pieces FROM stock WHERE item = ?", -1, &found, nullptr
        );
        sqlite3_bind_text(found, 1, item.c_str(), -1, SQLITE_TRANSIENT);
        std::optional<std::int64_t> pieces;
        if (sqlite3_step(found) == SQLITE_ROW) pieces = sqlite3_column_int64(found, 0);
        sqlite3_finalize(found);
        return pieces;
    }

private:
    sqlite3* database_{};
};

// The shop's own sign-in; here a header.
pawl::Principal find_caller(const httplib::Request& request) {
    return {.tenant = "shop", .account = request.get_header_value("X-Customer")};
}

int serve(int port) {
    pawl::block_end_signals();  // Before any thread is made.
    const auto database = pawl::Database::open("sqlite:shop.db");
    pawl::Service service{*database};
    service.add(PlaceOrder{});
    service.start();

    const Stock stock{"shop.db"};
    httplib::Server server;
    server.Get(R"(/stock/(\w+))", [&](const httplib::Request& in, httplib::Response& out) {
        const auto pieces = stock.find(in.matches[1]);
        out.status = pieces ? 200 : 404;
        out.set_content(std::to_string(pieces.value_or(0)), "text/plain");
    });
    server.Post("/orders", pawl_route<PlaceOrder>(service, &find_caller));
    if (!server.bind_to_port("127.0.0.1", port)) throw std::runtime_error{"the port is in use"};
    std::thread listener{[&] { server.listen_after_bind(); }};
    pawl::wait_for_end_signal();
    server.stop();  // Then the listener waits for the handlers that run.
    listener.join();
    return service.stop(service.options().drain_time()) ? 0 : 1;
}

}  // namespace shop

int main(int argc, char** argv) {
    const std::string_view port{argc == 2 ? argv[1] : ""};
    int number = 0;
    std::from_chars(port.data(), port.data() + port.size(), number);
    try {
        return shop::serve(number);
    } catch (const std::exception& failed) {
        std::cerr << "existing_service: " << failed.what() << '\n';
        return 1;
    }
}
