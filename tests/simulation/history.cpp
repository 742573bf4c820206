#include "tests/simulation/history.hpp"

#include "src/core/waiting.hpp"
#include "src/engine/log.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"
#include "tests/simulation/checks.hpp"
#include "tests/simulation/home.hpp"
#include "tests/simulation/process.hpp"

#include <pawl/detail/rows.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace pawl::simulation {

namespace {

constexpr milliseconds lease{30s};
constexpr milliseconds client_timeout{8s};
constexpr milliseconds days{73h};  // More than keys are kept, and than receivers remember.

struct Client {
    Asked asked;
    std::string tenant;
    std::string key;
    bool once{false};  // Asks the operation that is never repeated.
    int tries{0};
    int tries_max{0};  // Then it gives up.
    int repeats{1};    // After its final answer, to compare.
    Steady wakes{};
    std::optional<Steady> waits_until{};  // For an answer to its try.
    bool rests{false};
};

engine::KeyedRequest request_of(const Client& client, engine::Engine& to) {
    engine::KeyedRequest request;
    request.operation = to.find(client.once ? BuyOnce::name : Buy::name);
    request.principal = {client.tenant, "ann"};
    request.key = client.key;
    request.method = "POST";
    request.path = "/";
    request.origin = "127.0.0.1";
    request.request = std::make_shared<const Asked>(client.asked);
    request.params = request.operation->encode_request(request.request.get());
    request.fingerprint = request.params;
    request.fingerprint_under = [params = request.params](const std::string&) { return params; };
    return request;
}

class History {
public:
    History(Choices& choices, const HistoryOptions& options)
        : choices_{choices}, options_{options} {
        prepare();
    }
    Ended run() {
        while (ended_.steps < options_.steps_max && !rests() && !checks_.violation()) step();
        faults_ = false;
        tell("faults end");
        for (auto& process : processes_)
            if (process->alive()) process->frozen_until = {};
        // A back-off may be in the future by what the clock went back, up to the longest one.
        const int limit =
            ended_.steps + options_.settling_steps_max * (had_.clock_went_back ? 10 : 1);
        while (!checks_.violation() && !settled()) {
            step();
            if (ended_.steps > limit) checks_.violated("I10", "not settled: " + checks_.what_is_open());
        }
        if (!checks_.violation()) checks_.end(had_);
        end_processes();
        ended_.violation = checks_.violation();
        ended_.end_state = checks_.state();
        for (const auto* receiver : {&bank_, &mail_, &carrier_})
            ended_.effects += static_cast<int>(receiver->effects.size());
        for (const auto& [id, row] : checks_.rows()) ended_.expired += row.gone ? 1 : 0;
        return std::move(ended_);
    }

private:
    void prepare();
    void draw_faults();
    void add_clients();
    void start(std::size_t process);
    void step();
    void happen(std::size_t process, const Process::Event& event);
    bool fault();
    bool process_fault();
    bool time_fault();
    void pass_time();
    void send(std::size_t client);
    void answered(std::size_t client, int attempt, const engine::Answer& answer, bool free);
    void decide_for_a_person();
    const Checks::Row* asked_about();
    Receiver& books_of(const Checks::Row& row) {
        return row.operation == Ships::name ? carrier_ : bank_;
    }
    // Who it is about; of a job's key its arguments say so: {"who":"a/k1"}.
    static std::string subject_of(const Checks::Row& row) {
        if (row.operation != Ships::name) return row.who;
        const auto end = row.params.rfind('"');
        const auto begin = row.params.rfind('"', end - 1) + 1;
        return row.params.substr(begin, end - begin);
    }
    void operate(queue::DeadLetters& letters);
    void end_processes();
    bool clients_rest() const {
        return std::all_of(clients_.begin(), clients_.end(), [](const auto& c) { return c.rests; });
    }
    bool rests();
    bool settled();
    std::uint64_t state() const;
    Does bank_does();
    Does other_does();
    milliseconds call_takes();
    void on_the_way(bool there);
    Receiver::Asks asks(Does (History::*does)());
    void say_what_explains() {
        const bool calm = !had_.clock_steps && !had_.jumps && !had_.days && ended_.crashes == 0 &&
                          ended_.freezes == 0 && ended_.failed_commits == 0;
        bank_.overlap_is_wrong = carrier_.overlap_is_wrong = mail_.overlap_is_wrong = calm;
    }
    void tell(const std::string& what) {
        if (!options_.tells) return;
        const auto ms = (clock_.steady() - Steady{1h}) / 1ms;
        ended_.told.push_back(std::to_string(ms) + " ms  " + what);
    }
    static std::string server(std::size_t which) { return "server " + std::to_string(which); }

    Choices& choices_;
    const HistoryOptions& options_;
    Ended ended_;
    SimClock& clock_{home().clock};
    SimRandom random_{42};
    memory::MemoryStore& database_{home().database};
    Broker broker_;
    Receiver bank_{clock_, asks(&History::bank_does)};
    Receiver mail_{clock_, asks(&History::other_does)};
    Receiver carrier_{clock_, asks(&History::other_does)};
    Checks checks_{{database_, clock_, broker_, bank_, mail_, carrier_, lease}};
    std::optional<Shared> shared_;
    std::vector<std::unique_ptr<Process>> processes_;
    std::vector<Steady> starts_at_;  // Of dead ones.
    std::vector<Client> clients_;
    bool faults_{true};
    bool dying_{false};  // Whoever calls now is dead.
    Had had_;
    std::set<std::pair<std::int64_t, std::int64_t>> decided_;  // Key and attempt, by a person.

    // What may happen next, kept to save its memory.
    struct Possible {
        enum class What { event, start, client, landing, person } what{};
        std::size_t who{};
        Process::Event event{};
    };
    std::vector<Possible> possible_;
    std::vector<Process::Event> events_;

    // Swarm (Groce et al., ISSTA 2012): what this history has at all.
    bool dies_{false}, freezes_{false}, commits_fail_{false}, replies_fail_{false}, jumps_{false},
        steps_clock_{false}, days_pass_{false}, calls_are_slow_{false}, jobs_fail_{false};
};

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
            checks_.violated(invariant, what);
        }};
}

void History::draw_faults() {
    if (options_.small) {
        dies_ = freezes_ = commits_fail_ = replies_fail_ = true;
        return;
    }
    dies_ = choices_.pick(2) == 1;
    freezes_ = choices_.pick(2) == 1;
    commits_fail_ = choices_.pick(2) == 1;
    replies_fail_ = choices_.pick(2) == 1;
    jumps_ = choices_.pick(2) == 1;
    steps_clock_ = choices_.one_in(3);
    days_pass_ = choices_.one_in(4);
    calls_are_slow_ = choices_.one_in(3);
    jobs_fail_ = choices_.pick(2) == 1;
}

void History::prepare() {
    core::while_waiting() = &Strand::wait_until;
    home().empty();
    draw_faults();
    const bool works = options_.small ? options_.small_works : choices_.pick(3) != 0;
    if (works) checks_.expect_work();
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
        bank_,
        mail_,
        carrier_,
        outside,
        works,
        days_pass_,
        engine,
        {.every = 7s},
        worker,
        home().installation(),
        [this](const JobSeen& job) {
            if (dying_) return;
            ++ended_.jobs;
            checks_.job_tried(job, faults_ && jobs_fail_ && choices_.one_in(3), had_);
        },
        {[this] { on_the_way(true); }, [this] { on_the_way(false); }},
        {}});
    if (works && jobs_fail_ && choices_.pick(2) == 1)
        shared_->operate = [this](queue::DeadLetters& letters) { operate(letters); };

    const auto processes = options_.small ? 2 : 1 + choices_.pick(options_.processes_max);
    processes_.resize(processes);
    starts_at_.resize(processes);
    for (std::size_t i = 0; i < processes; ++i) start(i);
    add_clients();
}

void History::add_clients() {
    const auto clients = options_.small ? 2 : 1 + choices_.pick(options_.clients_max);
    const bool once = !options_.small && choices_.one_in(4);
    for (std::size_t i = 0; i < clients; ++i) {
        Client client;
        client.tenant = !options_.small && choices_.one_in(4) ? "b" : "a";
        client.key = !options_.small && choices_.one_in(3) ? "k2" : "k1";
        // Another request under the same key.
        client.asked.what = !options_.small && choices_.one_in(6) ? "a cap" : "a pin";
        client.asked.who = client.tenant + "/" + client.key;
        client.once = once;
        client.tries_max = !options_.small && choices_.one_in(3) ? 1 : 12;
        client.wakes =
            clock_.steady() + milliseconds{options_.small ? 0 : choices_.pick(4) * 40};
        clients_.push_back(std::move(client));
    }
}

void History::start(std::size_t process) {
    processes_[process] = std::make_unique<Process>(*shared_);
    tell(server(process) + " starts");
}

Does History::bank_does() {
    if (dying_) return Does::lost;
    if (!faults_ || !replies_fail_ || !choices_.one_in(2)) return Does::serve;
    constexpr std::array all{
        Does::serve, Does::retry, Does::lost, Does::cut, Does::throws, Does::late, Does::decline,
        Does::stuck};
    return all[choices_.pick(all.size())];
}

Does History::other_does() {
    if (dying_) return Does::lost;
    if (!faults_ || !replies_fail_ || !choices_.one_in(3)) return Does::serve;
    constexpr std::array all{
        Does::serve, Does::retry, Does::lost, Does::cut, Does::throws, Does::late};
    return all[choices_.pick(all.size())];
}

milliseconds History::call_takes() {
    if (dying_ || !faults_ || !calls_are_slow_ || !choices_.one_in(3)) return 0ms;
    constexpr std::array times{1'000ms, 12'000ms, 45'000ms};
    return times[choices_.pick(times.size())];
}

void History::on_the_way(bool there) {
    if (!faults_ || !replies_fail_ || dying_ || !choices_.one_in(12)) return;
    throw StoreError{
        StoreError::Kind::unavailable,
        there ? StoreError::Effect::none : StoreError::Effect::in_doubt,
        "outside",
        "a planted failure"};
}

// True: it was this step.
bool History::fault() {
    return faults_ && (process_fault() || time_fault());
}

bool History::process_fault() {
    if (dies_ && ended_.crashes < options_.crashes_max && choices_.one_in(40)) {
        const auto which = choices_.pick(processes_.size());
        if (!processes_[which]->alive()) return false;
        ++ended_.crashes;
        say_what_explains();
        tell(server(which) + " dies");
        dying_ = true;
        processes_[which]->kill();
        dying_ = false;
        starts_at_[which] = clock_.steady() + milliseconds{choices_.pick(4) * 15'000};
        return true;
    }
    if (freezes_ && ended_.freezes < options_.freezes_max && choices_.one_in(40)) {
        const auto which = choices_.pick(processes_.size());
        if (!processes_[which]->alive()) return false;
        ++ended_.freezes;
        say_what_explains();
        tell(server(which) + " stops for more than a lease");
        processes_[which]->frozen_until =
            clock_.steady() + lease + milliseconds{choices_.pick(4) * 5'000};
        return true;
    }
    return false;
}

bool History::time_fault() {
    if (steps_clock_ && ended_.clock_steps < options_.clock_steps_max && choices_.one_in(40)) {
        constexpr std::array steps{-40'000ms, 40'000ms, -600'000ms, 600'000ms};
        ++ended_.clock_steps;
        const auto by = steps[choices_.pick(steps.size())];
        clock_.set_wall(by);
        had_.clock_steps = true;
        had_.clock_went_back = had_.clock_went_back || by < 0ms;
        say_what_explains();
        tell("the clock is set by " + std::to_string(by / 1s) + " s");
        return true;
    }
    if (jumps_ && choices_.one_in(30)) {
        constexpr std::array waits{100ms, 1'000ms, 6'000ms, 31'000ms};
        clock_.advance(waits[choices_.pick(waits.size())]);
        had_.jumps = true;
        say_what_explains();
        tell("time passes");
        return true;
    }
    // No request is days under way.
    if (days_pass_ && !had_.days && bank_.quiet() && mail_.quiet() && carrier_.quiet() &&
        choices_.one_in(60)) {
        clock_.advance(days);
        had_.days = true;
        say_what_explains();
        tell("days pass");
        return true;
    }
    return false;
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
    if (bank_.on_the_way() > 0) possible_.push_back({Possible::What::landing, 0});
    if (carrier_.on_the_way() > 0) possible_.push_back({Possible::What::landing, 1});
    if (mail_.on_the_way() > 0) possible_.push_back({Possible::What::landing, 2});
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
            return std::array{&bank_, &carrier_, &mail_}[chosen.who]->land(0);
        case Possible::What::person:
            return decide_for_a_person();
        case Possible::What::client:
            break;
    }
    auto& client = clients_[chosen.who];
    if (!client.waits_until) return send(chosen.who);
    tell("client " + std::to_string(chosen.who) + " waits no longer");
    client.waits_until.reset();
    client.wakes = clock_.steady() + 500ms;
    if (client.tries >= client.tries_max && faults_) client.rests = true;
}

void History::happen(std::size_t process, const Process::Event& event) {
    std::optional<memory::Fate> fate;
    const bool of_store = event.kind == Process::Event::Kind::store;
    if (of_store && faults_ && commits_fail_ && choices_.one_in(8)) {
        constexpr std::array fates{
            memory::Fate::refused, memory::Fate::in_doubt_kept, memory::Fate::in_doubt_undone};
        fate = fates[choices_.pick(fates.size())];
        ++ended_.failed_commits;
        say_what_explains();
    }
    if (options_.tells)
        tell(
            server(process) + ": " + std::string{processes_[process]->name_of(event)} +
            (fate ? ", its commit fails" : "")
        );
    processes_[process]->happen(event, fate);
    if (of_store) checks_.look(had_);
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
    if (std::none_of(processes_.begin(), processes_.end(), [](const auto& p) {
            return p->alive();
        })) {
        client.wakes = clock_.steady() + 1s;
        return;
    }
    const auto which = choices_.pick(processes_.size());
    ++client.tries;
    client.waits_until = clock_.steady() + client_timeout;
    auto& process = *processes_[which];
    const bool answers = process.alive() && clock_.steady() >= process.frozen_until;
    if (options_.tells)
        tell(
            "client " + std::to_string(index) + " sends " + client.asked.who + " to " +
            server(which) + (answers ? "" : ", which does not answer")
        );
    if (!answers) return;
    process.engine().handle(
        request_of(client, process.engine()),
        [this, index, attempt = client.tries, &process](engine::Answer answer) {
            answered(index, attempt, answer, !dying_ && process.engine().keys_in_hand() == 0);
        }
    );
}

void History::answered(
    std::size_t index, int attempt, const engine::Answer& answer, bool free
) {
    auto& client = clients_[index];
    // Its line is cut, or the answer is lost, or it does not listen any more.
    if (dying_ || client.tries != attempt || !client.waits_until) return;
    if (faults_ && replies_fail_ && choices_.one_in(8)) return tell("an answer is lost");
    client.waits_until.reset();
    client.wakes = clock_.steady() + 200ms;
    if (const auto* settled = std::get_if<engine::Settled>(&answer)) {
        if (options_.tells)
            tell(
                "client " + std::to_string(index) + " has " +
                std::to_string(settled->response.status) + (settled->replayed ? " again" : "")
            );
        checks_.final_answer(client.asked, *settled, had_);
        if (client.repeats-- <= 0) client.rests = true;
        return;
    }
    const auto& refused = std::get<engine::Refused>(answer);
    if (options_.tells)
        tell(
            "client " + std::to_string(index) + " is refused: " +
            std::to_string(static_cast<int>(refused.why)) + " " + refused.detail
        );
    checks_.refused(client.asked, refused.why, free, had_);
    if (refused.why == engine::Why::key_reused || refused.why == engine::Why::key_expired)
        client.rests = true;
    if (faults_ && client.tries >= client.tries_max) client.rests = true;
}

// A row that waits for a person, who can know by now what its call has done.
const Checks::Row* History::asked_about() {
    for (const auto& [id, row] : checks_.rows()) {
        if (row.gone || row.standing != "attention" || decided_.contains({id, row.attempt}))
            continue;
        if (books_of(row).quiet_about(subject_of(row))) return &row;
    }
    return nullptr;
}

// Who looks into the receiver's books, and says what stands there.
void History::decide_for_a_person() {
    const auto row = *asked_about();
    const auto& books = books_of(row).effects;
    const auto found = books.find(subject_of(row));
    const bool called = row.point == "ordered" || row.point == "labelled";
    const bool happened = called && found != books.end() && !found->second.empty();
    tell("a person says of " + row.who + (happened ? ": it happened" : ": it did not happen"));
    ++ended_.settled;
    decided_.emplace(row.id, row.attempt);
    store::write_now(database_, [&](store::Session& session) {
        detail::run_statement(
            session,
            sql::request_settlement,
            [](const detail::Row&) {},
            row.id,
            row.attempt,
            std::string_view{happened ? "happened" : "did-not-happen"},
            std::string_view{happened ? "Done" : ""},
            happened ? R"({"id":")" + found->second.front() + R"("})" : std::string{},
            std::string_view{"a person"},
            std::string_view{"by the books"},
            session.now()
        );
    });
}

// Merges or purges all dead letters, twice: a double click.
void History::operate(queue::DeadLetters& letters) {
    const auto dead = letters.page({}, "", 100);
    if (dead.empty() || dying_) return;
    const bool purges = faults_ && choices_.pick(2) == 1;
    std::vector<std::string> ids;
    for (const auto& letter : dead) ids.push_back(letter.id);
    tell(purges ? "an operator purges" : "an operator merges");
    int done = 0;
    for (int click = 0; click < 2 && !dying_; ++click) {
        const queue::DeadAct act{"an operator", "simulated"};
        try {
            const auto did = purges ? letters.purge(ids, act)
                                    : letters.merge(ids, act, clock_.now() - std::chrono::hours{20});
            checks_.operated(purges, dead, did.done, true);
            done += did.done;
        } catch (const StoreError&) {
            checks_.operated(purges, dead, 0, false);
            throw;
        }
    }
    if (done > static_cast<int>(ids.size()))
        checks_.violated("I17", std::to_string(done) + " done of " + std::to_string(ids.size()));
}

bool History::rests() {
    return clients_rest() && !checks_.keys_are_open() && !(shared_->works && checks_.jobs_are_open());
}

bool History::settled() {
    if (!clients_rest() || checks_.keys_are_open()) return false;
    for (const auto& process : processes_)
        if (!process->alive() || !process->rests()) return false;
    return bank_.on_the_way() + mail_.on_the_way() + carrier_.on_the_way() == 0 &&
           !(shared_->works && checks_.jobs_are_open());
}

// What can be seen from outside the servers, and how many things they have in hand.
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
    core::while_waiting() = nullptr;
}

}  // namespace

Ended live(Choices& choices, const HistoryOptions& options) {
    return History{choices, options}.run();
}

}  // namespace pawl::simulation
