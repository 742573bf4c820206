// A service in two releases, for deploy_cases.py, which replaces servers of one by servers of the
// other: deploy_server_1 and deploy_server_2 are this file with RELEASE=1 and RELEASE=2. PROVIDER
// in the environment is the URL of its provider.
//
// Release 2 makes the changes that docs/howto/deploys.md allows: it renames the point "entered",
// adds a field to "checked", a step with the point "charged", a column, and an argument of the job.
#include <pawl/client.hpp>
#include <pawl/json.hpp>
#include <pawl/outcome.hpp>
#include <pawl/program.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;

constexpr pawl::Sql create{
    "0001_payments",
    "CREATE TABLE payments (id INTEGER PRIMARY KEY, account TEXT NOT NULL, charge TEXT) STRICT;"
    "CREATE TABLE receipts (payment INTEGER PRIMARY KEY) STRICT",
    "CREATE TABLE payments (id BIGINT PRIMARY KEY, account TEXT NOT NULL, charge TEXT);"
    "CREATE TABLE receipts (payment BIGINT PRIMARY KEY)"};
constexpr pawl::Statement<2> insert_payment{
    "insert_payment",
    "INSERT INTO payments (id, account) VALUES ($1, $2)",
    "INSERT INTO payments (id, account) VALUES ($1, $2)"};
constexpr pawl::Statement<2> set_charge{
    "set_charge",
    "UPDATE payments SET charge = $2 WHERE id = $1",
    "UPDATE payments SET charge = $2 WHERE id = $1"};
constexpr pawl::Statement<1> insert_receipt{
    "insert_receipt",
    "INSERT INTO receipts (payment) VALUES ($1)",
    "INSERT INTO receipts (payment) VALUES ($1)"};
#if RELEASE == 1
constexpr std::array migrations{&create};
#else
constexpr pawl::Sql add_risk{
    "0002_risk",
    "ALTER TABLE payments ADD COLUMN risk TEXT",
    "ALTER TABLE payments ADD COLUMN risk TEXT"};
constexpr std::array migrations{&create, &add_risk};
constexpr pawl::Statement<2> set_risk{
    "set_risk",
    "UPDATE payments SET risk = $2 WHERE id = $1",
    "UPDATE payments SET risk = $2 WHERE id = $1"};
#endif

struct Receipt {
    static constexpr std::string_view kind = "receipt";
    std::int64_t payment{};
#if RELEASE == 2
    std::optional<std::string> language{};
#endif
};

class ReceiptWriter {
public:
    void work(pawl::Tx& tx, const pawl::Job<Receipt>& job) {
        pawl::execute(tx, insert_receipt, job.args.payment);
    }
};

struct PaymentRequest {
    std::string account;
};
struct PaymentState {
    std::int64_t payment{};
    std::string charge;
};
// What the provider is asked, and its answer.
struct Asked {
    std::int64_t payment{};
    std::string account;
};
struct Accepted {
    std::string id;
};

class Pay {
public:
    static constexpr std::string_view name = "pay";
    explicit Pay(const std::string& provider)
        : client_{std::make_shared<pawl::Client>(pawl::ClientOptions{
              .url = provider,
              .timeout = 5s,
              .deadline = 5s,
              .tries_max = 1,
              .budget_per_s = 1e6,
              .breaker_failures = 0})} {}

    using Outcome = pawl::Outcome<Accepted>;
    using Started = pawl::Started<PaymentRequest>;
    struct Entered {
        static constexpr std::string_view name = RELEASE == 1 ? "entered" : "ordered";
        std::int64_t payment{};
        std::string account;
    };
    struct Checked {
        static constexpr std::string_view name = "checked";
        std::int64_t payment{};
        std::string account;
#if RELEASE == 2
        std::optional<std::string> risk{};
#endif
    };

    pawl::Next<Entered> enter(pawl::Tx& tx, const Started& at) {
        pawl::execute(tx, insert_payment, at.key_id, at.request.account);
        return Entered{at.key_id, at.request.account};
    }
    Outcome check(pawl::KeyedCall& call, const Entered& at) {
        return ask(call, "/checks", {at.payment, at.account});
    }
    Outcome charge(pawl::KeyedCall& call, const Checked& at) {
        return ask(call, "/charges", {at.payment, at.account});
    }
    std::string call_target(const Entered&) const {
        return client_->options().url;
    }
    std::string call_target(const Checked&) const {
        return client_->options().url;
    }

#if RELEASE == 1
    pawl::Next<Checked> keep_check(pawl::Tx&, const Entered& at, const Accepted&) {
        return Checked{at.payment, at.account};
    }
    pawl::Finish keep_charge(pawl::Tx& tx, const Checked& at, const Accepted& charge) {
        pawl::execute(tx, set_charge, at.payment, charge.id);
        tx.stage(Receipt{at.payment});
        return pawl::answer(201, PaymentState{at.payment, charge.id});
    }
    using Flow = pawl::Steps<
        pawl::Atomic<&Pay::enter>,
        pawl::Foreign<pawl::Repeat::safe_with_key, &Pay::check, &Pay::keep_check>,
        pawl::Foreign<pawl::Repeat::safe_with_key, &Pay::charge, &Pay::keep_charge>>;
#else
    struct Charged {
        static constexpr std::string_view name = "charged";
        std::int64_t payment{};
        std::string account;
        std::string charge;
    };
    using RenamedPoints = pawl::RenamedPoints<pawl::Renamed<"entered", Entered>>;

    pawl::Next<Checked> keep_check(pawl::Tx&, const Entered& at, const Accepted& check) {
        return Checked{at.payment, at.account, check.id};
    }
    pawl::Next<Charged> keep_charge(pawl::Tx& tx, const Checked& at, const Accepted& charge) {
        pawl::execute(tx, set_charge, at.payment, charge.id);
        pawl::execute(tx, set_risk, at.payment, at.risk);
        return Charged{at.payment, at.account, charge.id};
    }
    Outcome notify(pawl::KeyedCall& call, const Charged& at) {
        return ask(call, "/notices", {at.payment, at.account});
    }
    std::string call_target(const Charged&) const {
        return client_->options().url;
    }
    pawl::Finish keep_notice(pawl::Tx& tx, const Charged& at, const Accepted&) {
        tx.stage(Receipt{at.payment, "en"});
        return pawl::answer(201, PaymentState{at.payment, at.charge});
    }
    using Flow = pawl::Steps<
        pawl::Atomic<&Pay::enter>,
        pawl::Foreign<pawl::Repeat::safe_with_key, &Pay::check, &Pay::keep_check>,
        pawl::Foreign<pawl::Repeat::safe_with_key, &Pay::charge, &Pay::keep_charge>,
        pawl::Foreign<pawl::Repeat::safe_with_key, &Pay::notify, &Pay::keep_notice>>;
#endif

private:
    Outcome ask(pawl::KeyedCall& call, std::string target, const Asked& asked) {
        return pawl::outcome<pawl::ByStatus<201, Accepted>>(client_->perform(
            call, {.method = "POST", .target = std::move(target), .body = pawl::to_json(asked)}
        ));
    }
    std::shared_ptr<pawl::Client> client_;  // Shared by the copies of this operation.
};
static_assert(pawl::checked<Pay>());

std::string provider() {
    const char* url = std::getenv("PROVIDER");
    return url != nullptr ? url : "http://127.0.0.1:1";
}

}  // namespace

int main(int argc, char** argv) {
    return pawl::run_program(
        {.name = "deploy_server",
         .summary = "A service in two releases",
         .migrations = migrations,
         .add =
             [](pawl::Service& service) {
                 service.add(Pay{provider()});
                 service.add(ReceiptWriter{});
             },
         .routes = [](pawl::HttpServer& server) { server.post<Pay>("/payments"); },
         // The cases do not wait for 5 s after each dropped request, or hours for a failed job. A
         // job is retried for longer than they have servers of release 1.
         .service =
             {.complete_after = 200ms,
              .call_timeout = 5s,
              .retry_layers = {1s, 2s, 4s, 4s, 4s, 4s, 4s, 4s, 4s, 4s, 4s, 4s}},
         .http = {.anonymous = true}},
        argc,
        argv
    );
}
