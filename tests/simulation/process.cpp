#include "tests/simulation/process.hpp"

#include <algorithm>
#include <stdexcept>

namespace pawl::simulation {

namespace {

constexpr int afterlife_max = 10'000;

}  // namespace

Steady SimCalls::wakes(std::size_t nth) const {
    const auto& posted = *std::next(line_.begin(), static_cast<std::ptrdiff_t>(nth));
    return posted.strand ? posted.strand->wakes() : Steady{};
}

void SimCalls::run(std::size_t nth) {
    const auto at = std::next(line_.begin(), static_cast<std::ptrdiff_t>(nth));
    if (!at->strand) at->strand = std::make_unique<Strand>(std::move(at->f));
    at->strand->resume();
    if (at->strand->ended()) line_.erase(at);
}

Process::Process(const Shared& shared, int number)
    : shared_{shared},
      store_{shared.database, shared.locks, number},
      timers_{shared.clock},
      engine_{std::make_unique<engine::Engine>(
          engine::Engine::Parts{store_, shared.clock, shared.random, &timers_, &calls_},
          shared.engine,
          shared.installation
      )},
      embedded_{store_},
      embedded_mails_{store_, std::string{Tell::settings.queue}, shared.mail_limits},
      outside_{shared.broker, shared.clock, "default", way()},
      outside_mails_{shared.broker, shared.clock, std::string{Tell::settings.queue}, way()},
      dead_letters_{store_},
      pauses_{store_, shared.clock},
      completer_{*engine_, shared.completer},
      reaper_{store_, shared.clock, {}},
      enqueuer_{store_, shared.clock, shared.outside ? &outside_ : nullptr, {.claim = 20s}},
      worker_{
          *engine_,
          shared.outside ? static_cast<queue::Queue&>(outside_) : embedded_,
          pauses_,
          shared.worker},
      mailer_{
          *engine_,
          shared.outside ? static_cast<queue::Queue&>(outside_mails_) : embedded_mails_,
          pauses_,
          shared.worker},
      servers_{store_, shared.clock, shared.servers},
      steward_{store_, shared.clock, shared.random, shared.beliefs, shared.books_are_wrong} {
    engine_->add(detail::erase_operation(std::make_shared<Buy>(*shared.banks[0])));
    engine_->add(detail::erase_operation(std::make_shared<BuyOnce>(*shared.banks[0])));
    engine_->add(detail::erase_operation(std::make_shared<BuyRouted>(shared.banks, router_)));
    const auto& ships =
        engine_->add(detail::erase_operation(std::make_shared<Ships>(shared.carrier)));
    worker_.add(detail::erase_job(std::make_shared<Packs>(shared.on_job)));
    mailer_.add(detail::erase_job(std::make_shared<Tells>(shared.mail, shared.on_job)));
    worker_.add(detail::kind_of_job<Ship>(), ships);

    add_round("completer", shared.completer.every, [this] { completer_.run_once(); });
    if (shared.works) {
        add_work("worker", worker_);
        add_work("mailer", mailer_);
        add_round("rescuer", shared.worker.lease / 3, [this] { worker_.rescue_once(); });
        add_round("mail_rescuer", shared.worker.lease / 3, [this] { mailer_.rescue_once(); });
        if (shared.outside) add_round("enqueuer", 10s, [this] { enqueuer_.run_once(); });
        const auto hurry_workers = [this] {
            hurry("worker");
            hurry("mailer");
        };
        engine_->on_staged([this, hurry_workers] {
            if (shared_.outside)
                hurry("enqueuer");
            else
                hurry_workers();
        });
        enqueuer_.on_sent([hurry_workers](int) { hurry_workers(); });
    }
    if (shared.beats) {
        add_round("servers", shared.servers.times.beat_every, [this] {
            if (!store_.server()) servers_.start();
            servers_.run_once();
        });
        hurry("servers");
    }
    if (shared.reaps) add_round("reaper", 30s, [this] { reaper_.run_once(shared_.clock.now()); });
    if (shared.keeps_books)
        add_round("steward", 15s, [this] {
            if (shared_.keeps_books()) steward_.run_once();
        });
    if (shared.operate)
        add_round("operator", 40s, [this] { shared_.operate(dead_letters_, jobs_); });
}

Process::~Process() {
    if (alive_) kill();
}

OutsideQueue::Way Process::way() {
    const auto alive = [this] {
        if (!alive_)
            throw StoreError{
                StoreError::Kind::unavailable, StoreError::Effect::none, "way", "the process died"};
    };
    return {
        [this, alive] {
            alive();
            Strand::yield();
            alive();
            shared_.way.there();
        },
        [this, alive] {
            alive();
            shared_.way.back();
        }};
}

void Process::add_work(std::string_view name, ops::Worker& worker) {
    add_round(name, 10s, [&worker] {
        while (worker.run_once(4).worked() > 0) {
        }
    });
}

void Process::add_round(std::string_view name, milliseconds every, std::function<void()> body) {
    rounds_.push_back({name, every, std::move(body), shared_.clock.steady() + every});
}

void Process::hurry(std::string_view name) {
    for (auto& round : rounds_)
        if (round.name == name) round.next = shared_.clock.steady();
}

void Process::step(Round& round) {
    if (!round.strand) {
        round.strand = std::make_unique<Strand>([&body = round.body] {
            try {
                body();
            } catch (const StoreError&) {  // The next round comes.
            }
        });
        round.next = shared_.clock.steady() + round.every;
    }
    round.strand->resume();
    if (round.strand->ended()) round.strand.reset();
}

void Process::kill() {
    alive_ = false;
    store_.kill();
    calls_.request_stop();
    const auto round_is_under_way = [this] {
        return std::any_of(rounds_.begin(), rounds_.end(), [](const Round& r) {
            return r.strand != nullptr;
        });
    };
    for (int i = 0; calls_.waiting() > 0 || timers_.next() || round_is_under_way() ||
                    engine_->keys_in_flight() > 0;
         ++i) {
        if (i > afterlife_max) throw std::logic_error{"a dead process does not end"};
        if (calls_.waiting() > 0)
            calls_.run(0);
        else if (timers_.next())
            timers_.run_first();
        for (auto& round : rounds_)
            if (round.strand) step(round);
    }
    engine_.reset();
}

void Process::add_events(std::vector<Event>& events) const {
    const auto now = shared_.clock.steady();
    if (!alive_ || now < frozen_until) return;
    for (std::size_t i = 0; i < store_.waiting(); ++i) events.push_back({Event::Kind::store, i});
    for (std::size_t i = 0; i < calls_.waiting(); ++i)
        if (calls_.wakes(i) <= now) events.push_back({Event::Kind::call, i});
    if (const auto at = timers_.next(); at && *at <= now) events.push_back({Event::Kind::timer, 0});
    for (std::size_t i = 0; i < rounds_.size(); ++i)
        if (may_go_on(rounds_[i])) events.push_back({Event::Kind::round, i});
}

void Process::happen(const Event& event, std::optional<memory::CommitFate> fate) {
    switch (event.kind) {
        case Event::Kind::store:
            return store_.step(event.nth, fate);
        case Event::Kind::call:
            return calls_.run(event.nth);
        case Event::Kind::timer:
            return timers_.run_first();
        case Event::Kind::round:
            return step(rounds_[event.nth]);
    }
}

std::string_view Process::name_of(const Event& event) const {
    switch (event.kind) {
        case Event::Kind::store:
            return "a transaction";
        case Event::Kind::call:
            return "a call";
        case Event::Kind::timer:
            return "a timer";
        case Event::Kind::round:
            break;
    }
    return rounds_[event.nth].name;
}

std::optional<Steady> Process::next() const {
    if (!alive_) return std::nullopt;
    if (shared_.clock.steady() < frozen_until) return frozen_until;
    auto at = timers_.next();
    const auto sooner = [&](Steady when) {
        if (!at || when < *at) at = when;
    };
    for (std::size_t i = 0; i < calls_.waiting(); ++i) sooner(calls_.wakes(i));
    for (const auto& round : rounds_)
        if (!round.strand)
            sooner(round.next);
        else if (round.strand->wakes() != Steady{})
            sooner(round.strand->wakes());
    return at;
}

bool Process::rests() const {
    if (!alive_) return true;
    for (const auto& round : rounds_)
        if (round.strand) return false;
    return store_.waiting() == 0 && calls_.waiting() == 0 && engine_->keys_in_flight() == 0;
}

}  // namespace pawl::simulation
