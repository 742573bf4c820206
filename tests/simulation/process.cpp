#include "tests/simulation/process.hpp"

#include <stdexcept>

namespace pawl::simulation {

namespace {

constexpr int afterlife_max = 10'000;

std::exception_ptr no_process() {
    return std::make_exception_ptr(StoreError{
        StoreError::Kind::unavailable, StoreError::Effect::none, "simulation", "the process died"});
}

}  // namespace

void ProcessStore::submit(std::unique_ptr<store::Work> work, bool writes) {
    if (dead_) return work->done(no_process());
    line_.push_back({std::move(work), writes});
}

void ProcessStore::step(std::size_t nth, std::optional<memory::Fate> fate) {
    auto [work, writes] = std::move(line_.at(nth));
    line_.erase(line_.begin() + static_cast<std::ptrdiff_t>(nth));
    if (!writes) return database_.read(std::move(work));
    if (fate) database_.plan_next_commit(*fate);
    database_.write(std::move(work));
    database_.plan_nothing();
    if (!fate) return;
    // An id that a transaction was given is nobody else's, though it was undone: a sequence of
    // PostgreSQL takes none back, and of SQLite there is one process.
    static const Sql skip{
        "simulation_skip_id",
        "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'key_registry'",
        {}};
    store::write_now(database_, [](store::Session& session) {
        session.run(skip, {}, [](const detail::Row&) {});
    });
}

void ProcessStore::kill() {
    dead_ = true;
    auto dropped = std::exchange(line_, {});
    for (auto& [work, writes] : dropped) work->done(no_process());
}

Process::Process(const Shared& shared)
    : shared_{shared},
      store_{shared.database},
      timers_{shared.clock},
      engine_{std::make_unique<engine::Engine>(
          engine::Engine::Parts{store_, shared.clock, shared.random, &timers_, &calls_},
          shared.engine,
          shared.installation
      )},
      completer_{*engine_, shared.completer},
      next_round_{shared.clock.steady() + shared.completer.every} {
    engine_->add(detail::form_of<testing::Order>(std::make_shared<testing::Order>(shared.provider))
    );
}

Process::~Process() {
    if (alive_) kill();
}

void Process::kill() {
    alive_ = false;
    store_.kill();
    calls_.request_stop();
    for (int i = 0; calls_.waiting() > 0 || timers_.next() || round_ || engine_->keys_in_hand() > 0;
         ++i) {
        if (i > afterlife_max) throw std::logic_error{"a dead process does not end"};
        if (calls_.waiting() > 0)
            calls_.run(0);
        else if (timers_.next())
            timers_.run_first();
        if (round_) {
            round_->resume();
            if (round_->ended()) round_.reset();
        }
    }
    engine_.reset();
}

void Process::add_events(std::vector<Event>& events) const {
    if (!alive_ || shared_.clock.steady() < frozen_until) return;
    for (std::size_t i = 0; i < store_.waiting(); ++i) events.push_back({Event::Kind::store, i});
    for (std::size_t i = 0; i < calls_.waiting(); ++i) events.push_back({Event::Kind::call, i});
    if (const auto at = timers_.next(); at && *at <= shared_.clock.steady())
        events.push_back({Event::Kind::timer, 0});
    if (round_ ? moved_ : next_round_ <= shared_.clock.steady())
        events.push_back({Event::Kind::completer, 0});
}

void Process::happen(const Event& event, std::optional<memory::Fate> fate) {
    switch (event.kind) {
        case Event::Kind::store:
            moved_ = true;
            return store_.step(event.nth, fate);
        case Event::Kind::call:
            moved_ = true;
            return calls_.run(event.nth);
        case Event::Kind::timer:
            moved_ = true;
            return timers_.run_first();
        case Event::Kind::completer:
            break;
    }
    if (!round_) begin_completer();
    moved_ = false;
    round_->resume();
    if (!round_->ended()) return;
    round_.reset();
    moved_ = true;
    next_round_ = shared_.clock.steady() + shared_.completer.every;
}

void Process::begin_completer() {
    round_ = std::make_unique<Fiber>([this] {
        try {
            completer_.run_once();
        } catch (const StoreError&) {  // The next round comes.
        }
    });
}

std::optional<Steady> Process::next() const {
    if (!alive_) return std::nullopt;
    if (shared_.clock.steady() < frozen_until) return frozen_until;
    auto at = timers_.next();
    if (!round_ && (!at || next_round_ < *at)) at = next_round_;
    return at;
}

bool Process::rests() const {
    return !alive_ || (store_.waiting() == 0 && calls_.waiting() == 0 && !round_ &&
                       engine_->keys_in_hand() == 0);
}

}  // namespace pawl::simulation
