#include "src/store/postgres/postgres_store.hpp"

#include "src/core/thread_name.hpp"
#include "src/store/postgres/connection.hpp"
#include "src/store/postgres/notices.hpp"
#include "src/store/postgres/transaction.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace pawl::postgres {

using store::Urgency;
using store::Work;

namespace {

constexpr std::chrono::milliseconds first_wait{50};
constexpr std::chrono::milliseconds longest_wait{2'000};
constexpr std::chrono::milliseconds again_max{60};  // Between two runs of a work.

struct Waiting {
    std::unique_ptr<Work> work;
    bool writes{};
};

PostgresOptions checked(PostgresOptions options) {
    if (auto why = options.problem()) throw std::invalid_argument{"PostgresOptions: " + *why};
    return options;
}

// What a lost connection has not carried out may run on another.
bool never_ran(const std::exception_ptr& failed) {
    if (!failed) return false;
    try {
        std::rethrow_exception(failed);
    } catch (const StoreError& error) {
        return error.kind() == StoreError::Kind::unavailable &&
               error.effect() != StoreError::Effect::in_doubt;
    } catch (...) {
        return false;
    }
}

}  // namespace

struct PostgresStore::Impl {
    Impl(PostgresOptions options_, core::Clock& clock_, core::Random& random_)
        : options{std::move(options_)}, clock{clock_}, random{random_} {
        // Says at once what is wrong.
        auto first_made = std::make_unique<Connection>(options, clock);
        connected = 1;
        for (int i = 0; i < options.connections; ++i)
            threads.emplace_back([this, connection = std::move(first_made)]() mutable {
                core::name_this_thread("pawl-postgres");
                loop(std::move(connection));
            });
    }

    void loop(std::unique_ptr<Connection> connection);
    std::unique_ptr<Connection> open_connection();
    std::optional<Waiting> take();
    void run(std::unique_ptr<Connection>& connection, Waiting waiting);
    std::exception_ptr run_once(Connection& connection, Waiting& waiting);
    void on_disconnected();
    void on_unreachable(const StoreError& why);
    void refuse_all(const StoreError& why);
    bool wait(std::chrono::milliseconds longest);
    void submit(Waiting waiting, Urgency urgency);
    bool is_stopping() const {
        const std::lock_guard guard{mutex};
        return stopping;
    }

    const PostgresOptions options;
    core::Clock& clock;
    core::Random& random;

    mutable std::mutex mutex;
    std::condition_variable changed;  // Something waits, or the end has come.
    std::condition_variable ended;    // The end has come: for whoever waits for a while.
    std::deque<Waiting> first;
    std::deque<Waiting> normal;
    bool stopping{false};
    int connected{0};                       // Threads that have a connection.
    std::optional<StoreError> unreachable;  // Why the last try failed, while none has one.
    store::StoreStats stats;
    std::mutex joining;
    std::vector<std::thread> threads;
    Notices notices{options, clock, random};
};

// A thread without a connection takes no work: those who have one do.
void PostgresStore::Impl::loop(std::unique_ptr<Connection> connection) {
    auto pause = first_wait;
    for (;;) {
        if (connection == nullptr) connection = open_connection();
        if (connection == nullptr) {
            if (!wait(pause)) return;
            pause = std::min(pause * 2, longest_wait);
            continue;
        }
        pause = first_wait;
        auto waiting = take();
        if (!waiting) break;
        run(connection, std::move(*waiting));
    }
}

std::unique_ptr<Connection> PostgresStore::Impl::open_connection() {
    if (is_stopping()) return nullptr;
    try {
        auto made = std::make_unique<Connection>(options, clock);
        const std::lock_guard guard{mutex};
        ++connected;
        unreachable.reset();
        return made;
    } catch (const StoreError& why) {
        on_unreachable(why);
        return nullptr;
    }
}

// Nobody else will take what waits: it is told now, and may come again.
void PostgresStore::Impl::on_unreachable(const StoreError& why) {
    {
        const std::lock_guard guard{mutex};
        if (connected > 0) return;
        unreachable = why;
    }
    refuse_all(why);
}

void PostgresStore::Impl::refuse_all(const StoreError& why) {
    std::deque<Waiting> told;
    {
        const std::lock_guard guard{mutex};
        told.swap(first);
        for (auto& waiting : normal) told.push_back(std::move(waiting));
        normal.clear();
    }
    for (auto& waiting : told) waiting.work->done(std::make_exception_ptr(StoreError{why}));
}

void PostgresStore::Impl::on_disconnected() {
    const std::lock_guard guard{mutex};
    --connected;
}

// Nothing, and stopping: the end.
std::optional<Waiting> PostgresStore::Impl::take() {
    std::unique_lock guard{mutex};
    changed.wait(guard, [this] { return stopping || !first.empty() || !normal.empty(); });
    auto& line = first.empty() ? normal : first;
    if (line.empty()) return std::nullopt;
    auto waiting = std::move(line.front());
    line.pop_front();
    return waiting;
}

// False at the end of the store.
bool PostgresStore::Impl::wait(std::chrono::milliseconds longest) {
    const auto part = std::chrono::duration<double, std::milli>{
        static_cast<double>(longest.count()) * (0.5 + random.dice() / 2)};
    std::unique_lock guard{mutex};
    return !ended.wait_for(guard, part, [this] { return stopping; });
}

std::exception_ptr PostgresStore::Impl::run_once(Connection& connection, Waiting& waiting) {
    const TransactionParts parts{
        connection, options, clock, [this](int n) {
            return wait(std::min(std::chrono::milliseconds{2 << std::min(n, 5)}, again_max));
        }};
    return waiting.writes ? run_write(parts, *waiting.work) : run_read(parts, *waiting.work);
}

// A connection may have died while nothing was asked of it, as all do when the database starts
// anew: what it has certainly not carried out is run once more on a new one.
void PostgresStore::Impl::run(std::unique_ptr<Connection>& connection, Waiting waiting) {
    auto failed = run_once(*connection, waiting);
    if (!connection->usable()) {
        connection = nullptr;
        on_disconnected();
        if (never_ran(failed)) connection = open_connection();
        if (connection != nullptr) failed = run_once(*connection, waiting);
        if (connection != nullptr && !connection->usable()) {
            connection = nullptr;
            on_disconnected();
        }
    }
    {
        const std::lock_guard guard{mutex};
        ++stats.works;
        stats.commits += failed || !waiting.writes ? 0 : 1;
        stats.largest_batch = 1;
    }
    waiting.work->done(std::move(failed));
    if (connection != nullptr && !waiting.writes) end_read(*connection);
}

void PostgresStore::Impl::submit(Waiting waiting, Urgency urgency) {
    std::exception_ptr refused;
    {
        const std::lock_guard guard{mutex};
        if (stopping) {
            refused = store::stopped();
        } else if (unreachable) {
            refused = std::make_exception_ptr(*unreachable);
        } else if (first.size() + normal.size() >= options.waiting_max) {
            refused = store::too_many_wait(options.waiting_max);
        } else {
            (urgency == Urgency::first ? first : normal).push_back(std::move(waiting));
        }
    }
    if (refused)
        waiting.work->done(refused);  // NOLINT(bugprone-use-after-move): then it was not moved.
    else
        changed.notify_one();
}

PostgresStore::PostgresStore(PostgresOptions options, core::Clock& clock, core::Random& random)
    : impl_{std::make_unique<Impl>(checked(std::move(options)), clock, random)} {}

PostgresStore::~PostgresStore() {
    stop();
}

void PostgresStore::write(std::unique_ptr<Work> work, Urgency urgency) {
    impl_->submit({std::move(work), true}, urgency);
}

void PostgresStore::read(std::unique_ptr<Work> work) {
    impl_->submit({std::move(work), false}, Urgency::normal);
}

std::optional<std::string_view> PostgresStore::text_of(const Sql& statement) const {
    if (statement.postgres.empty()) return std::nullopt;
    return statement.postgres;
}

store::StoreStats PostgresStore::stats() const {
    const std::lock_guard guard{impl_->mutex};
    return impl_->stats;
}

void PostgresStore::notify(std::string_view hash) {
    impl_->notices.notify(hash);
}

std::unique_ptr<store::Listening> PostgresStore::listen(store::OnNotice on_notice) {
    return impl_->notices.listen(std::move(on_notice));
}

void PostgresStore::stop() {
    impl_->notices.stop();
    {
        const std::lock_guard guard{impl_->mutex};
        impl_->stopping = true;
    }
    impl_->changed.notify_all();
    impl_->ended.notify_all();
    {
        const std::lock_guard guard{impl_->joining};
        for (auto& thread : impl_->threads)
            if (thread.joinable()) thread.join();
    }
    // What is left if no thread had a connection at the end.
    impl_->refuse_all(StoreError{
        StoreError::Kind::unavailable, StoreError::Effect::none, "", "the store is stopping"});
}

}  // namespace pawl::postgres
