#include "src/base/blocking_wait.hpp"
#include "tests/simulation/life.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace pawl::simulation {

Receiver::Asks History::asks(Does (History::*does)()) {
    return {
        [this, does](const Receiver&) {
            if (ProcessStore::in_transaction())
                checks_.violated("I20", "a call is made in a transaction");
            return (this->*does)();
        },
        [this] { return call_takes(); },
        [this] { return dying_; },
        [this](std::string_view invariant, const std::string& what) {
            if (invariant == "I21" && broker_.has_twice()) return;
            if (invariant == "I11" && (!had_.calm() || had_.cancels)) return;
            checks_.violated(invariant, what);
        }};
}

void History::prepare() {
    base::while_waiting() = &Strand::wait_until;
    home().empty();
    draw_faults();
    const bool works = options_.small ? options_.small_works : choices_.pick(3) != 0;
    if (works) checks_.expect_work();
    // What becomes of jobs after a restore is not promised.
    restores_ = !works && !options_.small && !steps_clock_;
    const bool outside = works && !options_.small && choices_.pick(2) == 1;
    engine::EngineOptions engine;
    engine.lease = lease;
    engine.staging = outside ? engine::Staging::to_be_pushed : engine::Staging::as_job;
    ops::WorkerOptions worker;
    worker.lease = 30s;
    worker.timeout = 25s;
    worker.retry_layers = retry_layers;
    shared_.emplace(Shared{
        clock_,
        random_,
        database_,
        broker_,
        banks(),
        mail_,
        carrier_,
        outside,
        works,
        days_pass_,
        beats_,
        locks_,
        engine,
        {.every = 7s},
        {.times = server_times},
        worker,
        draw_mail_limits(works && !outside),
        home().installation(),
        [this](const JobSeen& job) {
            if (dying_) return;
            ++ended_.jobs;
            checks_.job_tried(job, faults_ && jobs_fail_ && choices_.one_in(3), had_);
        },
        {[this] { on_the_way(true); }, [this] { on_the_way(false); }},
        keeps_books_ ? std::function<bool()>{[this] { return faults_; }} : nullptr,
        beliefs_,
        [this](const std::string& what) {
            // The lease is stored by the wall clock, and held by the steady clock.
            if (!had_.clock_steps) checks_.violated("I23", what);
        },
        {}});
    if (works && jobs_fail_ && choices_.pick(2) == 1) {
        shared_->operate = [this](queue::DeadLetters& letters, queue::EmbeddedJobs& jobs) {
            if (faults_ && choices_.pick(2) == 1)
                steer(jobs);
            else
                operate(letters);
        };
        checks_.expect_operator();
    }

    const auto processes = options_.small ? 2 : 1 + choices_.pick(options_.processes_max);
    processes_.resize(processes);
    starts_at_.resize(processes);
    numbers_.resize(processes);
    for (std::size_t i = 0; i < processes; ++i) start(i);
    add_clients();
}

core::QueueLimits History::draw_mail_limits(bool may_have_some) {
    core::QueueLimits limits;
    if (!may_have_some || options_.small || choices_.pick(2) == 0) return limits;
    if (choices_.pick(2) == 1) limits.running_max = 1 + static_cast<int>(choices_.pick(3));
    if (choices_.pick(2) == 1) limits.partition_max = 1 + static_cast<int>(choices_.pick(2));
    if (choices_.pick(2) == 1) {
        limits.token_each = milliseconds{500} * (1 + choices_.pick(6));
        limits.burst = 1 + static_cast<int>(choices_.pick(3));
    }
    checks_.expect_limits(limits);
    return limits;
}

void History::start(std::size_t process) {
    numbers_[process] = ++started_;
    processes_[process] = std::make_unique<Process>(*shared_, started_);
    tell(server(process) + " starts");
}

void History::step() {
    ++ended_.steps;
    if (options_.on_state) options_.on_state(state());
    if (fault()) return;
    possible_.clear();
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (!processes_[i]->alive()) {
            if (starts_at_[i] <= clock_.steady()) possible_.push_back({Possible::What::start, i});
            continue;
        }
        events_.clear();
        processes_[i]->add_events(events_);
        for (const auto& event : events_) possible_.push_back({Possible::What::event, i, event});
    }
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        const auto& client = clients_[i];
        if (client.rests) continue;
        if (client.waits_until.value_or(client.wakes) <= clock_.steady())
            possible_.push_back({Possible::What::client, i});
    }
    for (std::size_t i = 0; i < receivers_.size(); ++i)
        if (receivers_[i]->on_the_way() > 0) possible_.push_back({Possible::What::landing, i});
    if (asked_about() != nullptr) possible_.push_back({Possible::What::person, 0});
    if (possible_.empty()) return pass_time();
    const auto& chosen = possible_[choices_.pick(std::min<std::size_t>(possible_.size(), 256))];
    switch (chosen.what) {
        case Possible::What::event:
            return happen(chosen.who, chosen.event);
        case Possible::What::start:
            return start(chosen.who);
        case Possible::What::landing:
            tell("a late request arrives");
            return receivers_[chosen.who]->land(0);
        case Possible::What::person:
            return decide_for_a_person();
        case Possible::What::client:
            break;
    }
    auto& client = clients_[chosen.who];
    if (!client.waits_until) return send(chosen.who);
    tell("client " + std::to_string(chosen.who) + " stops waiting");
    client.waits_until.reset();
    client.wakes = clock_.steady() + 500ms;
    if (client.tries >= client.tries_max && faults_) client.rests = true;
}

void History::happen(std::size_t process, const Process::Event& event) {
    std::optional<memory::CommitFate> fate;
    const bool of_store = event.kind == Process::Event::Kind::store;
    if (of_store && faults_ && commits_fail_ && choices_.one_in(8)) {
        constexpr std::array fates{
            memory::CommitFate::refused,
            memory::CommitFate::in_doubt_kept,
            memory::CommitFate::in_doubt_undone};
        fate = fates[choices_.pick(fates.size())];
        ++ended_.failed_commits;
        had_.faults = true;
    }
    if (options_.tells)
        tell(
            server(process) + ": " + std::string{processes_[process]->name_of(event)} +
            (fate ? ", its commit fails" : "")
        );
    checks_.server_at_work(numbers_[process]);
    processes_[process]->happen(event, fate);
    if (of_store) checks_.inspect(had_);
}

// Advances to the next time at which anything can happen.
void History::pass_time() {
    std::optional<Steady> next;
    const auto sooner = [&](Steady at) {
        if (!next || at < *next) next = at;
    };
    for (std::size_t i = 0; i < processes_.size(); ++i)
        if (!processes_[i]->alive())
            sooner(starts_at_[i]);
        else if (const auto at = processes_[i]->next())
            sooner(*at);
    for (const auto& client : clients_)
        if (!client.rests) sooner(client.waits_until.value_or(client.wakes));
    for (const auto& [id, row] : checks_.rows())
        if (!row.gone && row.status == "attention" && clock_.steady() < row.asked_since + lease)
            sooner(row.asked_since + lease);
    if (!next) throw std::logic_error{"no event will ever happen"};
    const auto wait = std::chrono::ceil<milliseconds>(*next - clock_.steady());
    clock_.advance(std::max(wait, 1ms));
}

bool History::rests() {
    return clients_rest() && !checks_.keys_are_open() &&
           !(shared_->works && checks_.jobs_are_open());
}

bool History::settled() {
    if (!clients_rest() || checks_.keys_are_open() || checks_.dead_servers_are_there())
        return false;
    for (const auto& process : processes_)
        if (!process->alive() || !process->rests()) return false;
    for (const auto* receiver : receivers_)
        if (receiver->on_the_way() > 0) return false;
    return !(shared_->works && checks_.jobs_are_open());
}

// A hash of what is visible outside the servers, and of their work in flight.
std::uint64_t History::state() const {
    auto state = mixed(checks_.state(), bank_.on_the_way());
    for (const auto& [who, ids] : bank_.effects) state = mixed(state, ids.size());
    for (const auto& client : clients_)
        state = mixed(
            state,
            static_cast<std::uint64_t>(client.tries) * 8 + (client.rests ? 4U : 0U) +
                (client.waits_until ? 2U : 0U) + (client.wakes <= clock_.steady() ? 1U : 0U)
        );
    std::vector<Process::Event> events;
    for (const auto& process : processes_) {
        events.clear();
        if (process->alive()) process->add_events(events);
        state = mixed(
            state,
            (process->alive() ? 1U : 0U) + (process->frozen_until > clock_.steady() ? 2U : 0U)
        );
        for (const auto& event : events)
            state = mixed(state, static_cast<std::uint64_t>(event.kind) * 16 + event.nth);
    }
    return state;
}

void History::end_processes() {
    dying_ = true;
    for (auto& process : processes_)
        if (process && process->alive()) process->kill();
    processes_.clear();
    base::while_waiting() = nullptr;
}

Ended live(Choices& choices, const HistoryOptions& options) {
    return History{choices, options}.run();
}

}  // namespace pawl::simulation
