#include <pawl/json.hpp>
#include <pawl/program.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

// What is outside the tutorial's service: another bank. It books a payment at once and answers
// DELAY_S seconds later. A request with an Idempotency-Key is booked once; without one, each time.
namespace {

using pawl::execute, pawl::Finish, pawl::Next, pawl::Statement, pawl::Tx;

constexpr pawl::Sql payments{
    "0001_payments",
    "CREATE TABLE payments (id INTEGER PRIMARY KEY, payee TEXT, cents INTEGER);",
    {}};
constexpr std::array<const pawl::Sql*, 1> migrations{&payments};
constexpr Statement<2> insert_payment{
    "insert_payment", "INSERT INTO payments (payee, cents) VALUES ($1, $2) RETURNING id", {}};
constexpr Statement<0> sum_payments{
    "sum_payments", "SELECT count(*), coalesce(sum(cents), 0) FROM payments", {}};

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

}  // namespace

int main(int argc, char** argv) {
    return pawl::run_program(
        {.name = "outside",
         .summary = "Stands for another bank",
         .migrations = migrations,
         .add = [](pawl::Service& service) { service.add(Pay{}); },
         .routes =
             [](pawl::HttpServer& server) {
                 server.post<Pay>("/payments");
                 server.get("/payments", SumPayments{});
             },
         .http = {.listen = "127.0.0.1:8090", .anonymous = true}},
        argc,
        argv
    );
}
