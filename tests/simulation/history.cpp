#include "tests/simulation/history.hpp"

#include "src/core/waiting.hpp"
#include "tests/simulation/home.hpp"
#include "tests/simulation/process.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>

namespace pawl::simulation {

namespace {

using testing::Does;
using testing::World;

constexpr milliseconds lease{30s};
constexpr milliseconds client_timeout{8s};

struct Client {
    std::string key;
    std::string customer;
    int tries{0};
    int tries_max{0};  // Then it gives up.
    int repeats{0};    // After its final answer, to compare.
    Steady wakes{};
    std::optional<Steady> waits_until;  // For an answer to its try.
    bool rests{false};
};

class History {
public:
    History(Choices& choices, const HistoryOptions& options)
        : choices_{choices}, options_{options} {
        prepare();
    }
    Ended run() {
        while (ended_.steps < options_.steps_max && !clients_rest() && !ended_.violation) step();
        faults_ = false;
        tell("faults end");
        for (auto& process : processes_)
            if (process->alive()) process->frozen_until = {};
        // A back-off may be in the future by what the clock went back, up to the longest one.
        const int limit = ended_.steps + options_.settling_steps_max * (clock_went_back_ ? 10 : 1);
        while (!ended_.violation && !settled()) {
            step();
            if (ended_.steps > limit) violated("I10", "not settled: " + open_keys());
        }
        if (!ended_.violation) check_end();
        end_processes();
        return std::move(ended_);
    }

private:
    // The first counts. Nothing is thrown: most are seen in the middle of the engine.
    void violated(std::string_view invariant, const std::string& what) {
        if (!ended_.violation) ended_.violation = std::string{invariant} + ": " + what;
    }
    void prepare();
    void start(std::size_t process);
    void step();
    void happen(std::size_t process, const Process::Event& event);
    bool fault();
    void pass_time();
    void send(std::size_t client);
    void answered(std::size_t client, int attempt, const engine::Answer& answer);
    void final_answer(Client& client, const Response& response);
    void check_rows();
    void check_end();
    void end_processes();
    bool clients_rest() const {
        return std::all_of(clients_.begin(), clients_.end(), [](const auto& c) { return c.rests; });
    }
    bool asked_as_stored(const Client& client) {
        return number(
                   "SELECT count(*) FROM idempotency_keys WHERE idempotency_key = '" + client.key +
                   "' AND params LIKE '%\"" + client.customer + "\"%'"
               ) == 1;
    }
    const char* open() const {
        return clock_went_back_ ? "standing = 'open'" : "standing <> 'finished'";
    }
    bool settled();
    std::string open_keys();
    Does provider_does();
    std::size_t alive() const {
        return static_cast<std::size_t>(std::count_if(
            processes_.begin(), processes_.end(), [](const auto& p) { return p && p->alive(); }
        ));
    }
    std::int64_t number(const std::string& text) {
        return store::read_now(database_, [&](store::Session& session) {
            return World::number_in(session, text);
        });
    }
    void tell(const std::string& what) {
        if (!options_.tells) return;
        const auto ms = (clock_.steady() - Steady{1h}) / 1ms;
        ended_.told.push_back(std::to_string(ms) + " ms  " + what);
    }

    Choices& choices_;
    const HistoryOptions& options_;
    Ended ended_;
    SimClock& clock_{home().clock};
    SimRandom random_{42};
    memory::MemoryStore& database_{home().database};
    testing::Provider provider_;
    std::optional<Shared> shared_;
    std::vector<std::unique_ptr<Process>> processes_;
    std::vector<Steady> starts_at_;  // Of dead ones.
    std::vector<Client> clients_;
    std::map<std::string, std::pair<int, std::string>> finals_;   // By key.
    std::map<std::int64_t, std::tuple<std::int64_t, int>> rows_;  // Attempt and point of each key.
    bool faults_{true};
    bool provider_dead_{false};  // Who calls is dead.
    bool clock_went_back_{false};
    // Swarm: kinds of faults that this history has at all.
    bool dies_{false}, freezes_{false}, commits_fail_{false}, replies_fail_{false}, jumps_{false},
        steps_clock_{false};
};

void History::prepare() {
    core::while_waiting() = [] {
        if (!Fiber::yield()) throw std::logic_error{"somebody waits outside of a fiber"};
    };
    home().empty();
    engine::EngineOptions engine;
    engine.lease = lease;
    shared_.emplace(Shared{clock_, random_, database_, provider_, engine, {}, home().installation()}
    );
    provider_.remembers_declines = true;
    provider_.before([this] { provider_.next({provider_does()}); });

    dies_ = choices_.pick(2) == 1;
    freezes_ = choices_.pick(2) == 1;
    commits_fail_ = choices_.pick(2) == 1;
    replies_fail_ = choices_.pick(2) == 1;
    jumps_ = choices_.pick(2) == 1;
    steps_clock_ = choices_.pick(2) == 1;
    const auto processes = 1 + choices_.pick(options_.processes_max);
    processes_.resize(processes);
    starts_at_.resize(processes);
    for (std::size_t i = 0; i < processes; ++i) start(i);
    const auto clients = 1 + choices_.pick(options_.clients_max);
    for (std::size_t i = 0; i < clients; ++i) {
        Client client;
        client.key = choices_.pick(3) == 2 ? "k2" : "k1";
        client.customer = choices_.one_in(6) ? "joe" : "jane";  // Another request under the key.
        client.tries_max = choices_.pick(3) == 2 ? 1 : 12;
        client.repeats = 1;
        client.wakes = clock_.steady() + milliseconds{choices_.pick(4) * 40};
        clients_.push_back(std::move(client));
    }
}

void History::start(std::size_t process) {
    processes_[process] = std::make_unique<Process>(*shared_);
    tell("server " + std::to_string(process) + " starts");
}

Does History::provider_does() {
    if (provider_dead_) return Does::doubt;
    if (!faults_ || !replies_fail_) return Does::charge;
    switch (choices_.pick(10)) {
        case 5:
            return Does::retry;
        case 6:
            return Does::doubt;
        case 7:
            return Does::doubt_charged;
        case 8:
            return Does::throws;
        case 9:  // A good provider that has charged says so again.
            return provider_.charges.empty() ? Does::decline : Does::charge;
        default:
            return Does::charge;
    }
}

// True: it was this step.
bool History::fault() {
    if (!faults_) return false;
    if (dies_ && ended_.crashes < options_.crashes_max && choices_.one_in(40)) {
        const auto which = choices_.pick(processes_.size());
        if (!processes_[which]->alive()) return false;
        ++ended_.crashes;
        tell("server " + std::to_string(which) + " dies");
        provider_dead_ = true;
        processes_[which]->kill();
        provider_dead_ = false;
        starts_at_[which] = clock_.steady() + milliseconds{choices_.pick(4) * 15'000};
        return true;
    }
    if (freezes_ && ended_.freezes < options_.freezes_max && choices_.one_in(40)) {
        const auto which = choices_.pick(processes_.size());
        if (!processes_[which]->alive()) return false;
        ++ended_.freezes;
        tell("server " + std::to_string(which) + " stops for more than a lease");
        processes_[which]->frozen_until =
            clock_.steady() + lease + milliseconds{choices_.pick(4) * 5'000};
        return true;
    }
    if (steps_clock_ && ended_.clock_steps < options_.clock_steps_max && choices_.one_in(40)) {
        constexpr std::array steps{-40'000ms, 40'000ms, -600'000ms, 600'000ms};
        ++ended_.clock_steps;
        const auto by = steps[choices_.pick(steps.size())];
        clock_.set_wall(by);
        clock_went_back_ = clock_went_back_ || by < 0ms;
        tell("the clock is set");
        return true;
    }
    if (jumps_ && choices_.one_in(30)) {
        constexpr std::array waits{100ms, 1'000ms, 6'000ms, 31'000ms};
        clock_.advance(waits[choices_.pick(waits.size())]);
        tell("time passes");
        return true;
    }
    return false;
}

void History::step() {
    ++ended_.steps;
    if (fault()) return;
    struct Possible {
        std::size_t who{};
        std::optional<Process::Event> event;  // Of a process; else a client's.
        bool starts{false};
    };
    std::vector<Possible> possible;
    std::vector<Process::Event> events;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (!processes_[i]->alive()) {
            if (starts_at_[i] <= clock_.steady()) possible.push_back({i, std::nullopt, true});
            continue;
        }
        events.clear();
        processes_[i]->add_events(events);
        for (const auto& event : events) possible.push_back({i, event});
    }
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        const auto& client = clients_[i];
        if (client.rests) continue;
        const auto at = client.waits_until.value_or(client.wakes);
        if (at <= clock_.steady()) possible.push_back({i, std::nullopt});
    }
    if (possible.empty()) return pass_time();
    const auto& chosen = possible[choices_.pick(std::min<std::size_t>(possible.size(), 256))];
    if (chosen.starts) return start(chosen.who);
    if (chosen.event) return happen(chosen.who, *chosen.event);
    auto& client = clients_[chosen.who];
    if (client.waits_until) {
        tell("client " + std::to_string(chosen.who) + " waits no longer");
        client.waits_until.reset();
        client.wakes = clock_.steady() + 500ms;
        if (client.tries >= client.tries_max && faults_) client.rests = true;
        return;
    }
    send(chosen.who);
}

void History::happen(std::size_t process, const Process::Event& event) {
    std::optional<memory::Fate> fate;
    if (event.kind == Process::Event::Kind::store && faults_ && commits_fail_ &&
        choices_.one_in(8)) {
        constexpr std::array fates{
            memory::Fate::refused, memory::Fate::in_doubt_kept, memory::Fate::in_doubt_undone};
        fate = fates[choices_.pick(fates.size())];
        ++ended_.failed_commits;
    }
    constexpr std::array names{"a transaction", "a call", "a timer", "the completer"};
    tell(
        "server " + std::to_string(process) + ": " + names[static_cast<std::size_t>(event.kind)] +
        (fate ? ", its commit fails" : "")
    );
    processes_[process]->happen(event, fate);
    if (event.kind == Process::Event::Kind::store) check_rows();
}

// To the next moment at which anything can happen.
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
    if (!next) throw std::logic_error{"nothing will ever happen"};
    const auto wait = std::chrono::ceil<milliseconds>(*next - clock_.steady());
    clock_.advance(std::max(wait, 1ms));
}

void History::send(std::size_t index) {
    auto& client = clients_[index];
    if (alive() == 0) {
        client.wakes = clock_.steady() + 1s;
        return;
    }
    const auto which = choices_.pick(processes_.size());
    ++client.tries;
    client.waits_until = clock_.steady() + client_timeout;
    auto& process = *processes_[which];
    const auto name = "client " + std::to_string(index) + " sends " + client.key;
    if (!process.alive() || clock_.steady() < process.frozen_until) {
        tell(name + " to server " + std::to_string(which) + ", which does not answer");
        return;
    }
    tell(name + " to server " + std::to_string(which));
    auto* engine = &process.engine();
    engine->handle(
        World::request_to<testing::Order>(
            *engine, client.key, R"({"items":[],"customer":")" + client.customer + R"("})"
        ),
        [this, index, attempt = client.tries](engine::Answer answer) {
            answered(index, attempt, answer);
        }
    );
}

void History::answered(std::size_t index, int attempt, const engine::Answer& answer) {
    auto& client = clients_[index];
    // Its line is cut, or the answer is lost, or it does not listen any more.
    if (provider_dead_ || client.tries != attempt || !client.waits_until) return;
    if (faults_ && replies_fail_ && choices_.one_in(8)) return tell("an answer is lost");
    client.waits_until.reset();
    client.wakes = clock_.steady() + 200ms;
    if (const auto* settled = std::get_if<engine::Settled>(&answer)) {
        tell(
            "client " + std::to_string(index) + " has " + std::to_string(settled->response.status) +
            (settled->replayed ? " again" : "")
        );
        return final_answer(client, settled->response);
    }
    const auto& refused = std::get<engine::Refused>(answer);
    tell(
        "client " + std::to_string(index) + " is told to come back: " +
        std::to_string(static_cast<int>(refused.why)) + " " + refused.detail
    );
    if (refused.why == engine::Why::key_reused) {
        if (asked_as_stored(client)) violated("I12", "the same request is taken for another");
        client.rests = true;
    }
    // A first call in the future is of unknown age: a person is asked (core/call_rule.cpp).
    if (refused.why == engine::Why::needs_attention && clock_went_back_)
        client.rests = true;
    else if (refused.why == engine::Why::needs_attention || refused.why == engine::Why::stranded)
        violated("I10", "a person is asked, of a provider that honours keys");
    if (faults_ && client.tries >= client.tries_max) client.rests = true;
}

void History::final_answer(Client& client, const Response& response) {
    if (!asked_as_stored(client)) violated("I12", "another request is answered as the first");
    const auto stored = number(
        "SELECT count(*) FROM idempotency_keys WHERE idempotency_key = '" + client.key +
        "' AND standing = 'finished' AND response_status = " + std::to_string(response.status)
    );
    if (stored != 1) violated("I3", client.key + " is answered before its answer is stored");
    const auto [at, first] = finals_.emplace(client.key, std::pair{response.status, response.body});
    if (!first && at->second != std::pair{response.status, response.body})
        violated(
            "I3",
            client.key + " was answered " + std::to_string(at->second.first) + " " +
                at->second.second + ", then " + std::to_string(response.status) + " " +
                response.body
        );
    if (client.repeats-- <= 0) client.rests = true;
}

// Attempts grow and points never go back, whoever writes.
void History::check_rows() {
    static const std::map<std::string, int, std::less<>> ranks{
        {"started", 0}, {"ordered", 1}, {"charged", 2}, {"finished", 3}};
    static const Sql look{
        "simulation_rows",
        "SELECT id, attempt, recovery_point, standing FROM idempotency_keys",
        {}};
    store::read_now(database_, [&](store::Session& session) {
        session.run(look, {}, [&](const detail::Row& row) {
            const auto id = row.integer(0);
            const auto attempt = row.integer(1);
            const auto rank = ranks.find(row.text(3) == "finished" ? "finished" : row.text(2));
            if (rank == ranks.end())
                return violated("I4", "a point that there is not: " + std::string{row.text(2)});
            const auto [at, fresh] = rows_.try_emplace(id, attempt, rank->second);
            if (fresh) return;
            auto& [last_attempt, last_rank] = at->second;
            if (attempt < last_attempt) violated("I15", "an attempt fell");
            if (rank->second < last_rank) violated("I4", "a recovery point went back");
            last_attempt = attempt;
            last_rank = rank->second;
        });
    });
}

bool History::settled() {
    if (!clients_rest()) return false;
    for (const auto& process : processes_)
        if (!process->alive() || !process->rests()) return false;
    return number(std::string{"SELECT count(*) FROM idempotency_keys WHERE "} + open()) == 0;
}

std::string History::open_keys() {
    return std::to_string(
               number(std::string{"SELECT count(*) FROM idempotency_keys WHERE "} + open())
           ) +
           " keys are open, " + (clients_rest() ? "no" : "a") + " client waits";
}

void History::check_end() {
    const auto paid = number("SELECT count(*) FROM idempotency_keys WHERE response_status = 201");
    const auto payments = number("SELECT count(*) FROM payments");
    const auto charges = static_cast<std::int64_t>(provider_.charges.size());
    const auto orders = number("SELECT count(*) FROM orders");
    const auto keys = number("SELECT count(*) FROM idempotency_keys");
    const auto jobs = number("SELECT count(*) FROM jobs");
    const auto twice =
        number("SELECT count(*) FROM (SELECT key_id FROM jobs GROUP BY key_id HAVING count(*) > 1)"
        );
    // Of what waits for a person nobody knows yet whether it was charged.
    const auto asked = number("SELECT count(*) FROM idempotency_keys WHERE standing = 'attention'");
    if (charges < paid || charges > paid + asked)
        violated(
            "I1, I2",
            std::to_string(charges) + " charges of " + std::to_string(paid) + " paid orders"
        );
    if (payments != paid) violated("I5", std::to_string(payments) + " payments");
    if (orders != keys)
        violated("I5", std::to_string(orders) + " orders of " + std::to_string(keys) + " keys");
    if (asked > 0 && !clock_went_back_) violated("I10", "a person is asked");
    if (jobs != paid || twice != 0) violated("I6", std::to_string(jobs) + " jobs");
    for (const auto& [key, answer] : finals_)
        if (answer.first != 201 && answer.first != 402)
            violated("I2", key + " was answered " + std::to_string(answer.first));
    ended_.end_state = std::hash<std::string>{}(
        std::to_string(paid) + "," + std::to_string(keys) + "," +
        std::to_string(clock_.now().time_since_epoch().count())
    );
}

void History::end_processes() {
    provider_dead_ = true;
    for (auto& process : processes_)
        if (process && process->alive()) process->kill();
    processes_.clear();
    core::while_waiting() = nullptr;
}

}  // namespace

Ended live(Choices& choices, const HistoryOptions& options) {
    return History{choices, options}.run();
}

}  // namespace pawl::simulation
