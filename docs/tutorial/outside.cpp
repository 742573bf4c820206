#include <pawl/json.hpp>
#include <pawl/program.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

// What is outside the tutorial's service: another bank, and a service that sends notices. The bank
// books a payment at once and answers DELAY_S seconds later. A request with an Idempotency-Key is
// carried out once; without one, each time.
namespace {

using pawl::execute, pawl::Finish, pawl::Next, pawl::Statement, pawl::Tx;

constexpr pawl::Sql payments{
    "0001_payments",
    "CREATE TABLE payments (id INTEGER PRIMARY KEY, payee TEXT, cents INTEGER);"
    "CREATE TABLE notices (recipient TEXT, text TEXT);",
    {}};
constexpr std::array<const pawl::Sql*, 1> migrations{&payments};
constexpr Statement<2> insert_payment{
    "insert_payment", "INSERT INTO payments (payee, cents) VALUES ($1, $2) RETURNING id", {}};
constexpr Statement<0> sum_payments{
    "sum_payments", "SELECT count(*), coalesce(sum(cents), 0) FROM payments", {}};

constexpr Statement<2> insert_notice{"insert_notice", "INSERT INTO notices VALUES ($1, $2)", {}};
constexpr Statement<0> list_notices{
    "list_notices", "SELECT recipient, text FROM notices ORDER BY rowid", {}};

struct Payment {
    std::string payee;
    std::int64_t cents{};
};
struct Accepted {
    std::string reference;
};
struct Refused {
    std::string why;
};

class Pay {
public:
    static constexpr std::string_view name = "pay";
    static constexpr pawl::Settings settings{
        .key = pawl::KeyRule::optional, .in_progress = pawl::wait(std::chrono::seconds{20})};
    using Started = pawl::Started<Payment>;
    struct Booked {
        static constexpr std::string_view name = "booked";
        std::string reference;
    };
    struct Waited {
        bool long_enough{};
    };

    Next<Booked> book(Tx& tx, const Started& at) {
        const auto& [payee, cents] = at.request;
        if (payee == "closed") return pawl::answer(422, Refused{"this account is closed"});
        const auto id = pawl::query_one<std::int64_t>(tx, insert_payment, payee, cents);
        return Booked{"p" + std::to_string(id)};
    }
    pawl::Outcome<Waited> wait(pawl::Call&, const Booked&) {
        const char* delay = std::getenv("DELAY_S");
        std::this_thread::sleep_for(std::chrono::seconds{delay != nullptr ? std::atoi(delay) : 0});
        return Waited{true};
    }
    Finish accept(Tx&, const Booked& at, const Waited&) {
        return pawl::answer(201, Accepted{at.reference});
    }

    using Flow = pawl::Steps<
        pawl::Atomic<&Pay::book>,
        pawl::Foreign<pawl::Repeat::safe, &Pay::wait, &Pay::accept>>;
};

struct Notice {
    std::string recipient;
    std::string text;
};
class SendNotice {
public:
    static constexpr std::string_view name = "send_notice";
    static constexpr pawl::Settings settings{.key = pawl::KeyRule::optional};
    using Started = pawl::Started<Notice>;
    Finish send(Tx& tx, const Started& at) {
        execute(tx, insert_notice, at.request.recipient, at.request.text);
        return pawl::answer(201, at.request);
    }
    using Flow = pawl::Steps<pawl::Atomic<&SendNotice::send>>;
};

struct Nothing {};
struct Sum {
    std::int64_t count{};
    std::int64_t cents{};
};
class SumPayments {
public:
    static constexpr std::string_view name = "sum_payments";
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<Nothing>&) {
        return pawl::respond(200, pawl::query_one<Sum>(read, sum_payments));
    }
};

struct Notices {
    std::vector<Notice> notices;
};
class ListNotices {
public:
    static constexpr std::string_view name = "list_notices";
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<Nothing>&) {
        return pawl::respond(200, Notices{pawl::query<Notice>(read, list_notices)});
    }
};

}  // namespace

int main(int argc, char** argv) {
    return pawl::run_program(
        {.name = "outside",
         .summary = "Stands for another bank and a service that sends notices",
         .migrations = migrations,
         .add =
             [](pawl::Service& service) {
                 service.add(Pay{});
                 service.add(SendNotice{});
             },
         .routes =
             [](pawl::HttpServer& server) {
                 server.post<Pay>("/payments");
                 server.get("/payments", SumPayments{});
                 server.post<SendNotice>("/notices");
                 server.get("/notices", ListNotices{});
             },
         .http = {.listen = "127.0.0.1:8090", .anonymous = true}},
        argc,
        argv
    );
}
