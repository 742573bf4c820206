#include <pawl/client.hpp>
#include <pawl/database.hpp>
#include <pawl/json.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// Tutorial, chapter 6: a program that pays wages by the server of chapter 2. Its keys are in a
// database of its own, so that a payment is made once although this program dies.
//
//   06_client add PAYEE CENTS   notes a payment and its key
//   06_client send              sends the payments that have no answer
namespace {

using pawl::Answered, pawl::ClientKey, pawl::GaveUp, pawl::Statement, pawl::Tx;

constexpr pawl::Sql payments{
    "0001_payments",
    "CREATE TABLE payments (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, payee TEXT NOT NULL,"
    " cents INTEGER NOT NULL, status INTEGER)",
    {}};
constexpr std::array<const pawl::Sql*, 1> migrations{&payments};
constexpr Statement<2> insert_payment{
    "insert_payment",
    "INSERT INTO payments (key, payee, cents) VALUES (lower(hex(randomblob(16))), $1, $2)",
    {}};
constexpr Statement<0> find_open{
    "find_open", "SELECT id, key, payee, cents FROM payments WHERE status IS NULL ORDER BY id", {}};
constexpr Statement<2> set_status{
    "set_status", "UPDATE payments SET status = $2 WHERE id = $1", {}};

struct Payment {
    std::int64_t id{};
    std::string key;
    std::string payee;
    std::int64_t cents{};
};
struct WireRequest {
    std::string payer;
    std::string payee;
    std::int64_t cents{};
};

void add(pawl::Database& database, const std::string& payee, std::int64_t cents) {
    database.write([&](Tx& tx) { execute(tx, insert_payment, payee, cents); });
}

// False: the payment has no final answer yet.
bool send(pawl::Database& database, pawl::Client& client, const Payment& payment) {
    const auto body = pawl::to_json(WireRequest{"jane", payment.payee, payment.cents});
    const auto end = client.post("/wires", body, ClientKey::saved(payment.key));
    std::cout << "payment " << payment.id << ": ";
    if (const auto* gave_up = std::get_if<GaveUp>(&end)) {
        std::cout << (gave_up->in_doubt ? "in doubt" : "not made") << ", " << gave_up->why << '\n';
        return false;
    }
    const auto& answered = std::get<Answered>(end);
    std::cout << answered.status << (answered.replayed ? " (replayed) " : " ") << answered.body
              << '\n';
    if (answered.status != 201 && answered.status != 422) return false;
    database.write([&](Tx& tx) { execute(tx, set_status, payment.id, answered.status); });
    return true;
}

bool send_all(pawl::Database& database, const char* url) {
    pawl::Client client{{.url = url, .deadline = std::chrono::seconds{10}}};
    std::vector<Payment> open;
    database.read([&](pawl::Snapshot& read) { open = pawl::query<Payment>(read, find_open); });
    bool all = true;
    for (const auto& payment : open) all = send(database, client, payment) && all;
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words{argv + 1, argv + argc};
    const char* url = std::getenv("TRANSFERS");
    try {
        const auto database = pawl::Database::open("sqlite:payroll.db");
        database->migrate("payroll", migrations);
        if (words.size() == 3 && words[0] == "add") {
            add(*database, words[1], std::stoll(words[2]));
            return 0;
        }
        if (words.size() == 1 && words[0] == "send" && url != nullptr)
            return send_all(*database, url) ? 0 : 1;
        std::cerr << "06_client add PAYEE CENTS | send, with TRANSFERS=http://HOST:PORT\n";
        return 2;
    } catch (const std::exception& failed) {
        std::cerr << "06_client: " << failed.what() << '\n';
        return 1;
    }
}
