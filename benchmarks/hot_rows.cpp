#include <pawl/detail/rows.hpp>

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/store/blocking.hpp"
#include "src/store/postgres/postgres_store.hpp"

#include <CLI/CLI.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>

// Phases a second that all write the same few rows, with and without shared transactions: the cost
// of sharing in its worst case. Each adds a line to a journal and cents to one account.
namespace {

using namespace pawl;
using store::Session;

constexpr Sql open_accounts{
    "open_accounts",
    {},
    "INSERT INTO accounts SELECT i, 0 FROM generate_series(1, 1000000) AS i ON CONFLICT DO "
    "NOTHING"};
constexpr Sql make_accounts{
    "make_accounts",
    {},
    "CREATE TABLE IF NOT EXISTS accounts (id BIGINT PRIMARY KEY, cents BIGINT NOT NULL) WITH "
    "(fillfactor = 50)"};
constexpr Sql make_journal{
    "make_journal",
    {},
    "CREATE TABLE IF NOT EXISTS journal (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
    "account BIGINT NOT NULL, text TEXT NOT NULL)"};
constexpr Sql note{
    "note", {}, "INSERT INTO journal (account, text) VALUES ($1, 'one more cent') RETURNING id"};
constexpr Sql add{"add", {}, "UPDATE accounts SET cents = cents + 1 WHERE id = $1"};

constexpr char kind{};
constexpr std::int64_t accounts = 1'000'000;

struct Given {
    std::string url;
    int clients{64};
    std::int64_t hot{10};
    double seconds{3};
    double warm_up{1};
};

class Crowd {
public:
    Crowd(postgres::PostgresStore& store, base::Random& random, const Given& given)
        : store_{store}, random_{random}, hot_{given.hot} {}

    void submit();
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> errors{0};
    std::atomic<bool> over{false};
    std::atomic<int> running{0};

private:
    // A random one of all accounts, if none is hot.
    std::int64_t account() {
        const auto of = static_cast<std::uint64_t>(hot_ > 0 ? hot_ : accounts);
        return static_cast<std::int64_t>(random_.next() % of) + 1;
    }
    postgres::PostgresStore& store_;
    base::Random& random_;
    std::int64_t hot_;
};

class Phase final : public store::Work {
public:
    Phase(Crowd& crowd, std::int64_t account) : crowd_{crowd}, account_{account} {}
    void run(Session& session) override {
        detail::run_statement(
            session, note, [](const store::Row&) {}, account_
        );
        detail::send_statement(session, add, account_);
    }
    void done(std::exception_ptr failed) noexcept override {
        ++(failed ? crowd_.errors : crowd_.done);
        if (crowd_.over)
            --crowd_.running;
        else
            crowd_.submit();
    }
    const void* kind() const override { return &::kind; }
    Isolation isolation() const override { return Isolation::read_committed; }

private:
    Crowd& crowd_;
    std::int64_t account_;
};

void Crowd::submit() {
    store_.write(std::make_unique<Phase>(*this, account()), store::Urgency::normal);
}

void sleep(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>{seconds});
}

void run(const Given& given) {
    auto options = postgres::options_of_url(given.url);
    postgres::PostgresStore store{options, base::system_clock(), base::system_random()};
    for (const auto* statement : {&make_accounts, &make_journal, &open_accounts})
        store::write_now(
            store,
            [&](Session& session) {
                detail::run_statement(session, *statement, [](const store::Row&) {});
            },
            std::chrono::minutes{1}
        );
    Crowd crowd{store, base::system_random(), given};
    crowd.running = given.clients;
    for (int i = 0; i < given.clients; ++i) crowd.submit();
    sleep(given.warm_up);
    const auto before = crowd.done.load();
    const auto began = std::chrono::steady_clock::now();
    sleep(given.seconds);
    const auto done = crowd.done.load() - before;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    crowd.over = true;
    while (crowd.running > 0) sleep(0.001);
    std::printf(
        "{\"rate_per_s\": %.1f, \"errors\": %llu}\n",
        static_cast<double>(done) / took.count(),
        static_cast<unsigned long long>(crowd.errors)
    );
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Phases a second that write the same few rows of a PostgreSQL"};
    Given given;
    app.add_option("--url", given.url, "postgres://...; sharing=off for a transaction each")
        ->required();
    app.add_option("--clients", given.clients, "Concurrent phases")->capture_default_str();
    app.add_option("--hot", given.hot, "Rows that all phases write; 0: any of a million")
        ->capture_default_str();
    app.add_option("--seconds", given.seconds, "Measured")->capture_default_str();
    app.add_option("--warm-up", given.warm_up, "Seconds of warm-up")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        run(given);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "bench_hot_rows: " << error.what() << "\n";
        return 1;
    }
}
