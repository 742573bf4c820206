// Books a seat twice with one key, over HTTP, and prints both answers: a project outside of Pawl.
#include <pawl/client.hpp>
#include <pawl/http.hpp>

#include "seats/migrations.hpp"
#include "seats/statements.hpp"

#include <cstdio>

class BookSeat {
public:
    static constexpr std::string_view name = "book_seat";
    struct Request {
        std::string guest;
    };
    pawl::Finish book(pawl::Tx& tx, const pawl::Started<Request>& at) {
        const auto seat = pawl::query_one<std::int64_t>(tx, seats::book_seat, at.request.guest);
        return pawl::answer(201, std::to_string(seat));
    }
    using Flow = pawl::Steps<pawl::Atomic<&BookSeat::book>>;
};

int main() {
    auto database = pawl::Database::open("sqlite::memory:");
    database->migrate("seats", seats::migrations::all);
    pawl::Service service{*database};
    service.add(BookSeat{});
    service.start();
    pawl::HttpServer server{service, {.listen = "127.0.0.1:0", .anonymous = true}};
    server.post<BookSeat>("/seats");
    server.start();
    pawl::Client client{{.url = "http://127.0.0.1:" + std::to_string(server.port())}};
    for (int i = 0; i < 2; ++i) {
        auto end = client.post("/seats", R"({"guest":"Ann"})", pawl::ClientKey::saved("ann-1"));
        const auto& got = std::get<pawl::Answered>(end);
        std::printf("%d %s %s\n", got.status, got.body.c_str(), got.replayed ? "again" : "new");
    }
}
