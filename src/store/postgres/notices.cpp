#include "src/store/postgres/notices.hpp"

#include "src/base/thread_name.hpp"
#include "src/core/backoff.hpp"
#include "src/store/postgres/connection.hpp"
#include "store/postgres/notices.hpp"

#include <poll.h>
#include <postgresql/libpq-fe.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pawl::postgres {

namespace {

constexpr std::chrono::milliseconds first_reconnect_wait{100};
constexpr std::chrono::milliseconds longest_reconnect_wait{5'000};
constexpr std::chrono::milliseconds send_every{10};
constexpr std::chrono::milliseconds answer_max{2'000};
constexpr std::chrono::milliseconds forever{-1};  // For poll().
// Beyond this, notices are dropped: pollers notice anyway.
constexpr std::size_t unsent_max{10'000};

struct Close {
    void operator()(pg_conn* connection) const { PQfinish(connection); }
};
struct FreeNotice {
    void operator()(PGnotify* notice) const { PQfreemem(notice); }
};
using Connected = std::unique_ptr<pg_conn, Close>;

// False if there is no answer within `answer_max`: a NOTIFY may wait for another commit, and a
// paused database does not answer. The connection is closed then.
bool run(
    base::Clock& clock, pg_conn* line, const Sql& statement, const std::string* parameter = nullptr
) {
    const std::string text{statement.postgres};
    const char* value = parameter != nullptr ? parameter->c_str() : nullptr;
    const int sent = PQsendQueryParams(
        line, text.c_str(), parameter != nullptr ? 1 : 0, nullptr, &value, nullptr, nullptr, 0
    );
    if (sent == 0) return false;
    const auto until = clock.steady() + answer_max;
    while (PQisBusy(line) != 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock.steady());
        pollfd socket{PQsocket(line), POLLIN, 0};
        if (left <= 0ms || ::poll(&socket, 1, static_cast<int>(left.count())) == 0) return false;
        if (PQconsumeInput(line) == 0) return false;
    }
    bool well = true;
    while (const Result result{PQgetResult(line)}) {
        const auto status = PQresultStatus(result.get());
        well = well && (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK);
    }
    return well;
}

// Null if the database can't be reached. The connection is mostly silent, so keepalives detect a
// dead peer within a minute. The URL comes last and overrides.
Connected connect(const PostgresOptions& options, base::Clock& clock) {
    const auto timeout = std::to_string(std::max<std::int64_t>(
        2, std::chrono::ceil<std::chrono::seconds>(options.connect_timeout).count()
    ));
    const std::array<const char*, 8> names{
        "connect_timeout",
        "tcp_user_timeout",
        "keepalives_idle",
        "keepalives_interval",
        "keepalives_count",
        "application_name",
        "dbname",
        nullptr};
    const std::array<const char*, 8> values{
        timeout.c_str(), "10000", "30", "10", "3", "pawl-notices", options.url.c_str(), nullptr};
    Connected line{PQconnectdbParams(names.data(), values.data(), 1)};
    if (line == nullptr || PQstatus(line.get()) != CONNECTION_OK) return nullptr;
    PQsetNoticeProcessor(
        line.get(), [](void*, const char*) {}, nullptr
    );
    if (!run(clock, line.get(), sql::notices::disable_synchronous_commit)) return nullptr;
    return line;
}

}  // namespace

struct Notices::Impl {
    Impl(const PostgresOptions& options_, base::Clock& clock_, base::Random& random_)
        : options{options_},
          clock{clock_},
          random{random_},
          wake_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {}
    ~Impl() {
        stop();
        ::close(wake_fd);
    }

    void wake();
    void stop();
    bool is_stopping() const {
        const std::lock_guard guard{mutex};
        return stopping;
    }
    bool is_wanted() const {
        const std::lock_guard guard{mutex};
        return listens || locks || !unsent.empty();
    }

    void loop();
    void pause(int socket, std::chrono::milliseconds longest);
    void back_off(std::chrono::milliseconds longest);
    void serve();
    std::chrono::milliseconds next_send_in() const;
    bool send();
    bool hold_lock();
    void close();
    void read_notices();
    void deliver(std::string_view hash);

    const PostgresOptions& options;
    base::Clock& clock;
    base::Random& random;
    const int wake_fd;  // Wakes the thread from poll().

    mutable std::mutex mutex;
    std::condition_variable ended;
    bool stopping{false};
    bool listens{false};  // Set by the first listen().
    bool locks{false};    // Set by the first session_lock().
    std::optional<std::int64_t> lock;
    std::vector<std::string> unsent;
    std::thread thread;

    std::mutex delivering;  // Held while listeners are called.
    std::map<int, store::OnNotice> listeners;
    int next_listener{0};

    // Used by the thread only.
    Connected line;
    bool is_listening{false};
    std::optional<std::chrono::steady_clock::time_point> sent_at;
};

// Called with the mutex held.
void Notices::Impl::wake() {
    if (!thread.joinable())
        thread = std::thread{[this] {
            base::name_this_thread("pawl-notices");
            loop();
        }};
    const std::uint64_t one = 1;
    (void)(::write(wake_fd, &one, sizeof one) == 0);
}

void Notices::Impl::stop() {
    std::thread ending;
    {
        const std::lock_guard guard{mutex};
        stopping = true;
        ended.notify_all();
        if (thread.joinable()) wake();
        ending = std::move(thread);
    }
    if (ending.joinable()) ending.join();
}

void Notices::Impl::loop() {
    auto wait = first_reconnect_wait;
    while (!is_stopping()) {
        if (line == nullptr && is_wanted()) line = connect(options, clock);
        if (line != nullptr) {
            serve();
            if (line != nullptr) wait = first_reconnect_wait;
        }
        if (line != nullptr) {
            pause(PQsocket(line.get()), next_send_in());
        } else if (is_wanted()) {
            back_off(wait);
            wait = std::min(wait * 2, longest_reconnect_wait);
        } else {
            pause(-1, forever);
        }
    }
}

// No connection is available, so nothing is delivered meanwhile.
void Notices::Impl::back_off(std::chrono::milliseconds longest) {
    const auto part = core::scaled(longest, 0.5 + random.dice() / 2);
    std::unique_lock guard{mutex};
    ended.wait_for(guard, part, [this] { return stopping; });
    unsent.clear();
}

// Waits until there is something to read or a wake-up.
void Notices::Impl::pause(int socket, std::chrono::milliseconds longest) {
    std::array<pollfd, 2> both{pollfd{wake_fd, POLLIN, 0}, pollfd{socket, POLLIN, 0}};
    ::poll(both.data(), both.size(), static_cast<int>(longest.count()));
    std::uint64_t rung = 0;
    (void)(::read(wake_fd, &rung, sizeof rung) == 0);
}

// Handles what the connection has; closes it if it is broken.
void Notices::Impl::serve() {
    bool works = PQconsumeInput(line.get()) == 1;
    bool begins = false;
    {
        const std::lock_guard guard{mutex};
        begins = listens && !is_listening;
    }
    if (works && begins)
        works = is_listening = run(clock, line.get(), sql::notices::listen_for_keys);
    works = works && hold_lock() && send();
    read_notices();
    if (works && begins) deliver({});  // Notices may have been lost while it was disconnected.
    if (works && PQstatus(line.get()) == CONNECTION_OK) return;
    close();
}

void Notices::Impl::close() {
    line = nullptr;
    is_listening = false;
    const std::lock_guard guard{mutex};
    lock.reset();
}

// Of a new number for each connection: PostgreSQL may hold the lock of a broken one for a while.
bool Notices::Impl::hold_lock() {
    {
        const std::lock_guard guard{mutex};
        if (!locks || lock) return true;
    }
    const auto number = static_cast<std::int64_t>(random.next() >> 1U);
    const auto text = std::to_string(number);
    if (!run(clock, line.get(), sql::notices::hold_session_lock, &text)) return false;
    const std::lock_guard guard{mutex};
    lock = number;
    return true;
}

// How long until the next batch is due; forever: there is none.
std::chrono::milliseconds Notices::Impl::next_send_in() const {
    const std::lock_guard guard{mutex};
    if (unsent.empty()) return forever;
    if (!sent_at) return {};
    const auto left = *sent_at + send_every - clock.steady();
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), 0ms);
}

bool Notices::Impl::send() {
    if (next_send_in() != 0ms) return true;
    std::vector<std::string> hashes;
    {
        const std::lock_guard guard{mutex};
        hashes.swap(unsent);
    }
    sent_at = clock.steady();
    std::string list{"["};
    for (const auto& hash : hashes)
        list.append(list.size() == 1 ? "\"" : ",\"").append(hash).append("\"");
    list += "]";
    return run(clock, line.get(), sql::notices::send_notices, &list);
}

void Notices::Impl::read_notices() {
    for (;;) {
        const std::unique_ptr<PGnotify, FreeNotice> notice{PQnotifies(line.get())};
        if (notice == nullptr) return;
        if (const std::string_view hash{notice->extra}; !hash.empty()) deliver(hash);
    }
}

void Notices::Impl::deliver(std::string_view hash) {
    const std::lock_guard guard{delivering};
    for (const auto& [id, on_notice] : listeners) on_notice(hash);
}

Notices::Notices(const PostgresOptions& options, base::Clock& clock, base::Random& random)
    : impl_{std::make_unique<Impl>(options, clock, random)} {}

Notices::~Notices() = default;

void Notices::notify(std::string_view hash) {
    if (!impl_->options.notifies()) return;
    const std::lock_guard guard{impl_->mutex};
    if (impl_->stopping || impl_->unsent.size() >= unsent_max) return;
    impl_->unsent.emplace_back(hash);
    impl_->wake();
}

std::unique_ptr<store::Listening> Notices::listen(store::OnNotice on_notice) {
    if (!impl_->options.notifies()) return nullptr;
    int id = 0;
    {
        const std::lock_guard delivering{impl_->delivering};
        id = ++impl_->next_listener;
        impl_->listeners.emplace(id, std::move(on_notice));
    }
    const std::lock_guard guard{impl_->mutex};
    impl_->listens = true;
    if (!impl_->stopping) impl_->wake();
    return std::make_unique<store::Listening>([impl = impl_.get(), id] {
        const std::lock_guard delivering{impl->delivering};
        impl->listeners.erase(id);
    });
}

std::optional<std::int64_t> Notices::session_lock() {
    if (!impl_->options.notifies()) return std::nullopt;
    const std::lock_guard guard{impl_->mutex};
    if (!impl_->locks && !impl_->stopping) {
        impl_->locks = true;
        impl_->wake();
    }
    return impl_->lock;
}

void Notices::stop() {
    impl_->stop();
}

}  // namespace pawl::postgres
