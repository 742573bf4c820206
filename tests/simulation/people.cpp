#include <pawl/detail/rows.hpp>

#include "src/ops/key_acts.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"
#include "tests/simulation/life.hpp"

#include <algorithm>
#include <array>

namespace pawl::simulation {

namespace {

engine::KeyedRequest request_of(const Client& client, engine::Engine& to) {
    engine::KeyedRequest request;
    request.operation = to.find(client.operation);
    request.principal = {client.tenant, "ann"};
    request.key = client.key;
    request.method = "POST";
    request.path = "/";
    request.origin = "127.0.0.1";
    request.request = std::make_shared<const Asked>(client.asked);
    request.params = request.operation->encode_request(request.request.get());
    request.fingerprint = request.params;
    request.fingerprint_text = request.params;
    return request;
}

}  // namespace

void History::add_clients() {
    const auto clients = options_.small ? 2 : 1 + choices_.pick(options_.clients_max);
    constexpr std::array operations{BuyOnce::name, BuyRouted::name, Buy::name, Buy::name};
    const auto operation = options_.small ? Buy::name : operations[choices_.pick(4)];
    for (auto* bank : banks()) bank->refuses_late = operation == BuyRouted::name;
    for (std::size_t i = 0; i < clients; ++i) {
        Client client;
        client.tenant = !options_.small && choices_.one_in(4) ? "b" : "a";
        client.key = !options_.small && choices_.one_in(3) ? "k2" : "k1";
        // A different request under the same key; of a lost one nobody would know that it differs.
        const bool differs = !options_.small && !restores_ && choices_.one_in(6);
        client.asked.what = differs ? std::string{sold_out} : "a pin";
        client.asked.who = client.tenant + "/" + client.key;
        client.operation = operation;
        client.tries_max = !options_.small && choices_.one_in(3) ? 1 : 12;
        client.wakes = clock_.steady() + milliseconds{options_.small ? 0 : choices_.pick(4) * 40};
        clients_.push_back(std::move(client));
    }
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
    client.is_answered = checks_.is_answered(client.asked.who);
    client.waits_until = clock_.steady() + client_timeout;
    client.clock_steps = ended_.clock_steps;
    auto& process = *processes_[which];
    const bool answers = process.alive() && clock_.steady() >= process.frozen_until;
    if (options_.tells)
        tell(
            "client " + std::to_string(index) + " sends " + client.asked.who + " to " +
            server(which) + (answers ? "" : ", which does not answer")
        );
    if (!answers) return;
    // Beside others of its key it only waits for an answer.
    const bool alone = process.engine().keys_in_flight() == 0;
    process.engine().handle(
        request_of(client, process.engine()),
        [this, index, attempt = client.tries, alone, &process](engine::Answer answer) {
            const bool free = alone && !dying_ && process.engine().keys_in_flight() == 0;
            answered(index, attempt, answer, free);
        }
    );
}

void History::answered(std::size_t index, int attempt, const engine::Answer& answer, bool free) {
    auto& client = clients_[index];
    // The connection is cut, the answer is lost, or the client does not wait any more.
    if (dying_ || client.tries != attempt || !client.waits_until) return;
    if (faults_ && replies_fail_ && choices_.one_in(8)) return tell("an answer is lost");
    client.waits_until.reset();
    client.wakes = clock_.steady() + 200ms;
    if (const auto* settled = std::get_if<engine::StoredResponse>(&answer)) {
        if (options_.tells)
            tell(
                "client " + std::to_string(index) + " has " +
                std::to_string(settled->response.status) + (settled->replayed ? " again" : "")
            );
        checks_.final_answer(client.asked, *settled, had_);
        if (client.repeats-- <= 0) client.rests = true;
        return;
    }
    const auto& refused = std::get<engine::Rejection>(answer);
    if (options_.tells)
        tell(
            "client " + std::to_string(index) + " is refused: " +
            std::to_string(static_cast<int>(refused.reason)) + " " + refused.detail
        );
    // A server that held the key when the clock was set, and lost it since, gives no information
    // about the current lease.
    const bool of_this_lease = free && client.clock_steps == ended_.clock_steps;
    checks_.refused(client.asked, refused.reason, of_this_lease, had_);
    // A lease that a clock step ended is not over for its holder.
    if (refused.reason == engine::Reason::in_progress && client.is_answered && !had_.clock_steps)
        checks_.violated("C2", client.asked.who + " is in progress after it was answered");
    if (refused.reason == engine::Reason::key_reused ||
        refused.reason == engine::Reason::key_expired)
        client.rests = true;
    if (faults_ && client.tries >= client.tries_max) client.rests = true;
}

// A row on the attention list whose call's outcome an operator can know by now.
const Checks::Row* History::asked_about() {
    for (const auto& [id, row] : checks_.rows()) {
        if (row.gone || row.status != "attention" || decided_.contains({id, row.attempt})) continue;
        // The last holder might still call: docs/command_line.md.
        if (clock_.steady() < row.asked_since + lease) continue;
        const auto subject = subject_of(row);
        const auto books = books_of(row);
        if (std::all_of(books.begin(), books.end(), [&](const auto* each) {
                return each->quiet_about(subject);
            }))
            return &row;
    }
    return nullptr;
}

// An operator reads the receiver's records and settles the key.
void History::decide_for_a_person() {
    const auto row = *asked_about();
    std::string found;
    for (const auto* books : books_of(row))
        if (const auto at = books->effects.find(subject_of(row));
            at != books->effects.end() && !at->second.empty())
            found = at->second.front();
    const bool called = row.point == "ordered" || row.point == "labelled";
    const bool happened = called && !found.empty();
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
            happened ? R"({"id":")" + found + R"("})" : std::string{},
            std::string_view{"a person"},
            std::string_view{"by the books"},
            session.now()
        );
    });
}

// An operator holds a key, whatever works on it, or releases one.
void History::hold_or_release() {
    std::vector<std::int64_t> ids;
    for (const auto& [id, row] : checks_.rows())
        if (!row.gone && row.status != "finished") ids.push_back(id);
    if (ids.empty()) return;
    const auto id = ids[choices_.pick(ids.size())];
    const auto verb = choices_.pick(2) == 1 ? ops::KeyVerb::hold : ops::KeyVerb::release;
    tell("an operator: " + std::string{ops::name_of(verb)} + " key " + std::to_string(id));
    store::write_now(database_, [&](store::Session& session) {
        return ops::act_on_key(session, verb, id, {"an operator", "simulated"});
    });
    checks_.inspect(had_);
}

void History::release_all() {
    constexpr auto verb = ops::KeyVerb::release;
    const auto held = ops::ids_to_act_on(database_, verb, {});
    ops::act_on_keys(database_, verb, held, {"an operator", "simulated"}, [](const auto&) {});
    checks_.inspect(had_);
}

// Merges or purges all dead letters, twice, like a double click.
void History::operate(queue::DeadLetters& letters) {
    const auto dead = letters.page({}, "", 100);
    if (dead.empty() || dying_) return;
    const bool purges = faults_ && choices_.pick(2) == 1;
    tell(purges ? "an operator purges" : "an operator merges");
    std::vector<std::string> ids;
    for (const auto& letter : dead) ids.push_back(letter.id);
    const queue::AuditEntry act{"an operator", "simulated"};
    for (int click = 0; click < 2 && !dying_; ++click) {
        checks_.operates(purges, dead);
        try {
            const auto did = purges
                                 ? letters.purge(ids, act)
                                 : letters.merge(ids, act, clock_.now() - std::chrono::hours{20});
            checks_.operated(did.done);
        } catch (const StoreError&) {
            checks_.operated(std::nullopt);
            throw;
        }
    }
}

// Cancels some jobs, or lets them be due at once, whatever state they are in.
void History::steer(queue::EmbeddedJobs& jobs) {
    auto chosen = jobs.page({}, "", 100);
    std::erase_if(chosen, [this](const auto&) { return choices_.pick(2) == 1; });
    if (chosen.empty() || dying_) return;
    const bool cancels = choices_.pick(2) == 1;
    tell(cancels ? "an operator cancels jobs" : "an operator hurries jobs");
    std::vector<std::string> ids;
    for (const auto& job : chosen) ids.push_back(job.id);
    const queue::AuditEntry act{"an operator", "simulated"};
    if (cancels)
        had_.cancels = true;
    else
        checks_.hurries(chosen);
    try {
        checks_.steered(cancels ? jobs.cancel(ids, act).cancelled : jobs.retry_now(ids, act).due);
    } catch (const StoreError&) {
        checks_.steered(std::nullopt);
        throw;
    }
}

}  // namespace pawl::simulation
