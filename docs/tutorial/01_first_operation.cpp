#include <pawl/json.hpp>
#include <pawl/program.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Tutorial, chapter 1: a service that moves money between two accounts of its own tables.
namespace {

using pawl::Finish, pawl::Next, pawl::Refusal, pawl::Statement, pawl::Tx;

constexpr pawl::Sql accounts{
    "0001_accounts",
    "CREATE TABLE accounts (name TEXT PRIMARY KEY, cents INTEGER NOT NULL CHECK (cents >= 0));"
    "CREATE TABLE transfers (id INTEGER PRIMARY KEY, payer TEXT, payee TEXT, cents INTEGER);",
    {}};
constexpr std::array<const pawl::Sql*, 1> migrations{&accounts};

// The number is that of the parameters. The last text is for PostgreSQL: chapter 7.
constexpr Statement<2> open_account{
    "open_account", "INSERT INTO accounts VALUES ($1, $2) ON CONFLICT DO NOTHING", {}};
constexpr Statement<1> find_account{
    "find_account", "SELECT name, cents FROM accounts WHERE name = $1", {}};
constexpr Statement<2> take{
    "take", "UPDATE accounts SET cents = cents - $2 WHERE name = $1 AND cents >= $2", {}};
constexpr Statement<2> give{"give", "UPDATE accounts SET cents = cents + $2 WHERE name = $1", {}};
constexpr Statement<3> insert_transfer{
    "insert_transfer",
    "INSERT INTO transfers (payer, payee, cents) VALUES ($1, $2, $3) RETURNING id",
    {}};

struct TransferRequest {
    std::string payer;
    std::string payee;
    std::int64_t cents{};

    std::optional<std::string> problem() const {
        if (cents < 1) return "cents is at least 1";
        return std::nullopt;
    }
};
struct TransferMade {
    std::int64_t transfer{};
};
struct NotMade {
    std::string why;
};

class Transfer {
public:
    static constexpr std::string_view name = "transfer";
    using Started = pawl::Started<TransferRequest>;

    Next<Refusal> move_money(Tx& tx, const Started& at) {
        const auto& [payer, payee, cents] = at.request;
        if (execute(tx, take, payer, cents) == 0)
            return pawl::refuse(422, NotMade{"the payer has too little money"});
        if (execute(tx, give, payee, cents) == 0)
            return pawl::refuse(422, NotMade{"there is no such payee"});
        const auto id = pawl::query_one<std::int64_t>(tx, insert_transfer, payer, payee, cents);
        return pawl::answer(201, TransferMade{id});
    }

    using Flow = pawl::Steps<pawl::Atomic<&Transfer::move_money>>;
};
static_assert(pawl::checked<Transfer>());

struct AccountName {
    std::string name;
};
struct Account {
    std::string name;
    std::int64_t cents{};
};

class ShowAccount {
public:
    static constexpr std::string_view name = "show_account";
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<AccountName>& at) {
        const auto found = pawl::query_maybe<Account>(read, find_account, at.request.name);
        return found ? pawl::respond(200, *found) : pawl::respond(404, AccountName{at.request});
    }
};

void open_accounts(Tx& tx) {
    execute(tx, open_account, "jane", 1000);
    execute(tx, open_account, "joe", 0);
}

}  // namespace

int main(int argc, char** argv) {
    return pawl::run_program(
        {.name = "transfers",
         .summary = "Moves money between accounts",
         .migrations = migrations,
         .add = [](pawl::Service& service) { service.add(Transfer{}); },
         .routes =
             [](pawl::HttpServer& server) {
                 server.post<Transfer>("/transfers");
                 server.get("/accounts/{name}", ShowAccount{});
             },
         .prepare = [](pawl::Database& database) { database.write(&open_accounts); },
         .http = {.anonymous = true}},  // All clients share one account; chapter 7 has tokens.
        argc,
        argv
    );
}
