#include <pawl/json.hpp>
#include <pawl/outbox.hpp>

#include "outbox/migrations.hpp"
#include "outbox/statements.hpp"
#include "src/base/clock.hpp"
#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/base/options.hpp"
#include "src/base/random.hpp"
#include "src/base/text.hpp"
#include "src/base/thread_name.hpp"
#include "src/base/time_text.hpp"
#include "src/client/outbox/outbox_rule.hpp"
#include "src/core/fault.hpp"
#include "src/http/transfer.hpp"

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

namespace pawl {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t body_max = 1024UL * 1024;
constexpr std::size_t target_max = 2'000;  // PostgreSQL has an index over it and the key.
constexpr std::string_view owner = "pawl-outbox";
// After the client's deadline; then another process sends the request.
constexpr milliseconds lease_beyond{30'000};
constexpr int forgotten_at_once = 1'000;

// A request as stored in the table; its content type is one of the headers.
struct Stored {
    std::string method;
    std::string headers;
    std::string body;
    friend bool operator==(const Stored&, const Stored&) = default;
};

void check_text(std::string_view text, const char* what) {
    if (base::is_utf8(text) && text.find('\0') == text.npos) return;
    throw std::invalid_argument{
        std::string{"pawl: the "} + what +
        " of a request in the outbox is not UTF-8, or contains NUL"};
}

Stored stored(const ClientRequest& request) {
    check_text(request.method, "method");
    check_text(request.target, "target");
    check_text(request.body, "body");
    if (http::first_header(request.headers, "Idempotency-Key"))
        throw std::invalid_argument{
            "pawl: an Idempotency-Key among the headers: a key is given as a ClientKey"};
    if (request.target.empty() || request.target.size() > target_max)
        throw std::invalid_argument{
            "pawl: the target of a request in the outbox has " +
            std::to_string(request.target.size()) + " bytes: 1 to " + std::to_string(target_max)};
    if (request.body.size() > body_max)
        throw std::invalid_argument{
            "pawl: the body of a request in the outbox has " + std::to_string(request.body.size()) +
            " bytes: at most 1 MiB"};
    auto headers = request.headers;
    if (!request.body.empty() && !http::first_header(headers, "Content-Type"))
        headers.push_back({"Content-Type", request.content_type});
    for (const auto& header : headers) {
        check_text(header.name, "headers");
        check_text(header.value, "headers");
    }
    if (auto why = http::problem_of({.method = request.method, .headers = headers}))
        throw std::invalid_argument{"pawl: of a request in the outbox " + *why};
    return {request.method, to_json(headers), request.body};
}

// The columns of outbox_claim.
struct Claimed {
    std::int64_t id{};
    int attempt{};
    std::string target;
    std::string key;
    std::string method;
    std::string headers;
    std::string body;
    TimePoint first_at;
};

struct InFlightRecords {
    Claimed claimed;
    bool first{};  // The other server has not seen an earlier send.
};

ClientRequest request_of(const Claimed& claimed) {
    ClientRequest request{.method = claimed.method, .target = claimed.target, .body = claimed.body};
    auto headers = detail::decode<std::vector<Header>>(claimed.headers);
    auto* found = std::get_if<0>(&headers);
    if (found == nullptr) throw std::runtime_error{"its headers are not what put() writes"};
    for (auto& header : *found) {
        if (header.name == "Content-Type")
            request.content_type = std::move(header.value);
        else
            request.headers.push_back(std::move(header));
    }
    return request;
}

std::string why_of(const ClientResult& end) {
    if (const auto* gave_up = std::get_if<GaveUp>(&end)) return gave_up->why;
    return "answered " + std::to_string(std::get<Answered>(end).status);
}

}  // namespace

std::optional<std::string> OutboxOptions::problem() const {
    using namespace std::chrono_literals;
    if (auto why = base::out_of("at_once", at_once, 1, 1'000)) return why;
    if (every < 10ms || every > 1h)
        return "every is " + std::to_string(every.count()) + " ms: 10 to 3600000";
    if (wait_first < 1ms)
        return "wait_first is " + std::to_string(wait_first.count()) + " ms: at least 1";
    if (wait_max < wait_first)
        return "wait_max is " + std::to_string(wait_max.count()) + " ms: at least wait_first, " +
               std::to_string(wait_first.count()) + " ms";
    if (wait_max > 240h)
        return "wait_max is " + std::to_string(wait_max.count()) + " ms: at most 864000000";
    for (const auto& [name, hours] : {std::pair{"give_up_after", give_up_after}, {"keep", keep}})
        if (hours < 1h || hours > 87'600h)
            return std::string{name} + " is " + std::to_string(hours.count()) + " h: 1 to 87600";
    return std::nullopt;
}

struct Outbox::Impl {
    Impl(Database& database_, Client& client_, OnEnd on_end_, OutboxOptions options_)
        : database{database_},
          client{client_},
          on_end{std::move(on_end_)},
          options{base::checked(options_, "pawl::OutboxOptions")},
          lease{client.options().deadline + lease_beyond} {}

    std::vector<InFlightRecords> claim(int limit);
    void start_all(std::vector<InFlightRecords> all);
    void has_ended(InFlightRecords one, ClientResult end);
    void drain();
    void record_ended();
    void record(const InFlightRecords& one, const ClientResult& end);
    void forget();
    void run(const std::stop_token& stop);

    Database& database;
    Client& client;
    const OnEnd on_end;
    const OutboxOptions options;
    const milliseconds lease;

    std::mutex mutex;  // Guards the following members.
    std::condition_variable_any changed;
    int in_flight{0};
    std::vector<std::pair<InFlightRecords, ClientResult>> ended;

    std::mutex sending;  // Held while sending, and while sending is started or stopped.
    std::jthread thread;
};

std::vector<InFlightRecords> Outbox::Impl::claim(int limit) {
    std::vector<InFlightRecords> all;
    database.write([&](Tx& tx) {
        all.clear();
        const auto now = tx.now();
        for (auto& one : query<Claimed>(tx, client::sql::outbox_claim, now, now + lease, limit)) {
            const bool first = one.first_at == now;
            all.push_back({std::move(one), first});
        }
    });
    return all;
}

void Outbox::Impl::has_ended(InFlightRecords one, ClientResult end) {
    const std::lock_guard lock{mutex};
    ended.emplace_back(std::move(one), std::move(end));
    --in_flight;
    changed.notify_all();
}

// A request that this client can't send is put off like a refused one: no other waits for it, and
// operators see the reason.
void Outbox::Impl::start_all(std::vector<InFlightRecords> all) {
    const auto now = base::system_clock().now();
    for (auto& one : all) {
        {
            const std::lock_guard lock{mutex};
            ++in_flight;
        }
        const auto age = std::chrono::duration_cast<milliseconds>(now - one.claimed.first_at);
        if (!one.first && !client::may_send_again(options, age + client.options().deadline)) {
            has_ended(
                std::move(one),
                GaveUp{true, 0, "it was first sent so long ago that its key may be forgotten there"}
            );
            continue;
        }
        try {
            const auto request = request_of(one.claimed);
            const auto key = ClientKey::saved(one.claimed.key);
            PAWL_FAULT("outbox.send.before");
            // The end is stored for record_ended(); the client's threads write nothing.
            client.start(request, key, [this, one](ClientResult end) mutable {
                has_ended(std::move(one), std::move(end));
            });
        } catch (const std::exception& failed) {
            has_ended(std::move(one), GaveUp{false, 0, failed.what()});
        }
    }
}

void Outbox::Impl::drain() {
    while (true) {
        record_ended();
        std::unique_lock lock{mutex};
        if (in_flight == 0 && ended.empty()) return;
        changed.wait(lock, [this] { return !ended.empty(); });
    }
}

void Outbox::Impl::record_ended() {
    std::vector<std::pair<InFlightRecords, ClientResult>> now_ended;
    {
        const std::lock_guard lock{mutex};
        now_ended.swap(ended);
    }
    for (const auto& [one, end] : now_ended) {
        PAWL_FAULT("outbox.record.before");
        // If this fails, the claim ends by itself and the request is sent again under its key.
        const auto not_recorded = [id = one.claimed.id](const std::string& why) {
            log::limited_warning(
                "outbox_not_recorded", base::error_kind(why), {{"id", id}, {"detail", why}}
            );
        };
        try {
            record(one, end);
        } catch (const std::exception& failed) {
            not_recorded(failed.what());
        } catch (...) {  // Thrown by on_end, the application's.
            not_recorded("it threw something that is not a std::exception");
        }
        PAWL_FAULT("outbox.record.after");
    }
}

void Outbox::Impl::record(const InFlightRecords& one, const ClientResult& end) {
    const auto& claimed = one.claimed;
    database.write([&](Tx& tx) {
        const auto now = tx.now();
        const auto age = std::chrono::duration_cast<milliseconds>(now - claimed.first_at);
        const auto after = client::decide_after_sending(
            options, end, claimed.attempt, age, base::system_random().dice()
        );
        if (const auto* later = std::get_if<client::PutOff>(&after)) {
            execute(
                tx,
                client::sql::outbox_put_off,
                claimed.id,
                claimed.attempt,
                now + later->wait,
                why_of(end),
                one.first && later->undone ? 1 : 0
            );
            return;
        }
        const bool gave_up = std::get<client::FinishIt>(after).gave_up;
        const auto* answered = std::get_if<Answered>(&end);
        const auto finished = execute(
            tx,
            client::sql::outbox_finish,
            claimed.id,
            claimed.attempt,
            std::string_view{gave_up ? "gave-up" : "answered"},
            answered != nullptr ? answered->status : 0,
            gave_up ? why_of(end) : std::string{},
            now
        );
        if (finished == 0) return;  // Another process has it, or had it.
        if (!on_end) return;
        auto said = end;
        if (gave_up) said = GaveUp{true, 0, why_of(end)};
        on_end(
            tx,
            {ClientKey::saved(claimed.key), request_of(claimed), std::move(said), claimed.attempt}
        );
    });
}

void Outbox::Impl::forget() {
    std::int64_t forgotten = forgotten_at_once;
    while (forgotten == forgotten_at_once)
        database.write([&](Tx& tx) {
            forgotten =
                execute(tx, client::sql::outbox_forget, tx.now() - options.keep, forgotten_at_once);
        });
}

void Outbox::Impl::run(const std::stop_token& stop) {
    base::name_this_thread("pawl-outbox");
    auto& clock = base::system_clock();
    auto forget_at = clock.steady();
    while (!stop.stop_requested()) {
        try {
            record_ended();
            int room = 0;
            {
                const std::lock_guard lock{mutex};
                room = options.at_once - in_flight;
            }
            auto claimed = room > 0 ? claim(room) : std::vector<InFlightRecords>{};
            const bool more = static_cast<int>(claimed.size()) == room;
            start_all(std::move(claimed));
            if (clock.steady() >= forget_at) {
                forget();
                forget_at = clock.steady() + std::chrono::minutes{1};
            }
            if (more && room > 0) continue;
        } catch (const std::exception& failed) {
            log::limited_warning(
                "outbox_round_failed", base::error_kind(failed.what()), {{"detail", failed.what()}}
            );
        }
        std::unique_lock lock{mutex};
        changed.wait_for(lock, stop, options.every, [this] { return !ended.empty(); });
    }
    drain();
}

Outbox::Outbox(Database& database, Client& client, OnEnd on_end, OutboxOptions options)
    : impl_{std::make_unique<Impl>(database, client, std::move(on_end), options)} {
    migrate(database);
}

Outbox::~Outbox() {
    stop();
}

void Outbox::migrate(Database& database) {
    database.migrate(owner, client::sql::migrations::all);
}

ClientKey Outbox::put(Tx& tx, const ClientRequest& request) {
    auto key = ClientKey::saved(base::random_hex(base::system_random(), 32));
    put(tx, request, key);
    return key;
}

bool Outbox::put(Tx& tx, const ClientRequest& request, const ClientKey& key) {
    const auto row = stored(request);
    const auto inserted = execute(
        tx,
        client::sql::outbox_put,
        request.target,
        key.text(),
        row.method,
        row.headers,
        row.body,
        tx.now()
    );
    if (inserted > 0) return true;
    const auto there =
        query_maybe<Stored>(tx, client::sql::outbox_find, request.target, key.text());
    if (there && !(*there == row))
        throw std::logic_error{
            "pawl: the outbox holds another request to " + request.target + " under the key " +
            key.text()};
    return false;
}

Outbox::Insert Outbox::insert_of(
    const ClientRequest& request, const ClientKey& key, Dialect dialect
) {
    const auto row = stored(request);
    const auto& statement = client::sql::outbox_put;
    return {
        std::string{dialect == Dialect::sqlite ? statement.sqlite : statement.postgres},
        {request.target,
         key.text(),
         row.method,
         row.headers,
         row.body,
         base::time_text(base::system_clock().now())}};
}

void Outbox::start() {
    const std::lock_guard lock{impl_->sending};
    if (impl_->thread.joinable()) return;
    impl_->thread = std::jthread{[this](const std::stop_token& stop) { impl_->run(stop); }};
}

void Outbox::stop() {
    const std::lock_guard lock{impl_->sending};
    if (!impl_->thread.joinable()) return;
    impl_->thread.request_stop();
    impl_->thread.join();
}

int Outbox::send_due() {
    const std::lock_guard lock{impl_->sending};
    if (impl_->thread.joinable())
        throw std::logic_error{"pawl: Outbox::send_due() after start(), which sends by itself"};
    auto claimed = impl_->claim(impl_->options.at_once);
    const auto count = static_cast<int>(claimed.size());
    impl_->start_all(std::move(claimed));
    impl_->drain();
    impl_->forget();
    return count;
}

Outbox::Waiting Outbox::waiting() {
    Waiting found;
    impl_->database.write([&](Tx& tx) { found = query_one<Waiting>(tx, client::sql::outbox_count); }
    );
    return found;
}

}  // namespace pawl
