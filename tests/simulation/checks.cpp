#include "tests/simulation/checks.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/time_text.hpp"
#include "src/store/blocking.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>
#include <utility>

namespace pawl::simulation {

namespace {

// Texts are constants: the connection caches a prepared statement by its text's address.
constexpr Sql look_at_rows{
    "simulation_rows",
    "SELECT id, tenant || '/' || idempotency_key, operation, params, attempt, recovery_point, "
    "status, lease_until, response_status, expires_at, calling, coalesce(server_id, 0), "
    "held_at IS NOT NULL "
    "FROM pawl_idempotency_keys",
    {}};

constexpr Sql look_at_servers{
    "simulation_servers", "SELECT id, beats, session_lock FROM pawl_servers", {}};
constexpr Sql jobs_of_server{
    "simulation_jobs_of_server",
    "SELECT (SELECT count(*) FROM pawl_jobs WHERE server_id = $1 AND state = 'running') + "
    "(SELECT count(*) FROM pawl_staged_jobs WHERE server_id = $1 AND claimed_until IS NOT NULL)",
    {}};

constexpr Sql look_at_mails{
    "simulation_mails",
    "SELECT id, attempt, partition FROM pawl_jobs WHERE queue = 'mails' AND state = 'running'",
    {}};

constexpr Sql look_at_books{
    "simulation_books", "SELECT epoch, holder FROM pages ORDER BY rowid", {}};

int rank_of(std::string_view point) {
    constexpr std::array<std::pair<std::string_view, int>, 5> ranks{
        {{"started", 0}, {"ordered", 1}, {"labelled", 1}, {"charged", 2}, {"finished", 3}}};
    for (const auto& [name, rank] : ranks)
        if (name == point) return rank;
    return -1;
}

std::optional<TimePoint> time_in(const detail::Row& row, int column) {
    if (row.is_null(column)) return std::nullopt;
    return base::time_from_text(row.text(column));
}

}  // namespace

Checks::Checks(const World& world)
    : world_{world},
      job_places_{
          world.broker,
          world.mail,
          world.carrier,
          {[this](const std::string& kind, const std::string& args) {
               return purged_.contains(kind + args);
           },
           [this](const std::string& what) { violated("I7", what); }}} {}

std::int64_t Checks::number(std::string_view text) {
    return store::read_now(world_.database, [&](store::Session& session) {
        std::int64_t value = 0;
        session.run(Sql{"simulation", text, {}}, {}, [&](const detail::Row& row) {
            value = row.integer(0);
        });
        return value;
    });
}

std::vector<std::string> Checks::texts(std::string_view text) {
    return store::read_now(world_.database, [&](store::Session& session) {
        std::vector<std::string> found;
        session.run(Sql{"simulation", text, {}}, {}, [&](const detail::Row& row) {
            found.emplace_back(row.text(0));
        });
        return found;
    });
}

void Checks::inspect(const Had& had) {
    const auto changes = world_.database.changes();
    if (std::exchange(changes_, changes) != changes) look_at_all(had);
    state_ = mixed(state_of_rows_, world_.broker.jobs.size());
}

void Checks::restored() {
    rows_ = backup_.rows;
    servers_ = backup_.servers;
    std::erase_if(finals_, [this](const auto& final) {
        const auto* row = row_of(final.first);
        return row == nullptr || row->status != "finished";
    });
}

void Checks::look_at_all(const Had& had) {
    std::set<std::int64_t> there;
    state_of_rows_ = 0;
    store::read_now(world_.database, [&](store::Session& session) {
        session.run(look_at_rows, {}, [&](const detail::Row& row) {
            Row seen;
            seen.id = row.integer(0);
            seen.who = row.text(1);
            seen.operation = row.text(2);
            seen.params = row.text(3);
            seen.attempt = row.integer(4);
            seen.point = row.text(5);
            seen.status = row.text(6);
            seen.rank = rank_of(seen.status == "finished" ? "finished" : row.text(5));
            seen.lease_until = time_in(row, 7);
            seen.response_status = row.is_null(8) ? 0 : static_cast<int>(row.integer(8));
            seen.expires_at = time_in(row, 9);
            seen.calling = row.integer(10) != 0;
            seen.server_id = row.integer(11);
            seen.held = row.integer(12) != 0;
            there.insert(seen.id);
            see(std::move(seen), had);
        });
        see_servers(session);
        if (world_.works) job_places_.inspect(session);
        if (limits_.any()) see_mails(session, had);
        check_pages(session);
    });
    for (auto& [id, row] : rows_)
        if (!row.gone && !there.contains(id)) missed(row);
    if (operated_)
        for (auto& letter : texts("SELECT id || ' ' || history FROM pawl_dead_jobs"))
            deaths_.insert(std::move(letter));
}

// A server is ended after its time only, and with it all that it held.
void Checks::see_servers(store::Session& session) {
    std::set<std::int64_t> there;
    session.run(look_at_servers, {}, [&](const detail::Row& row) {
        there.insert(row.integer(0));
        const auto [at, fresh] = servers_.try_emplace(row.integer(0));
        auto& server = at->second;
        server.lock = row.integer(2);
        if (fresh || server.beats != row.integer(1)) server.beaten_at = world_.clock.steady();
        server.beats = row.integer(1);
    });
    for (auto at = servers_.begin(); at != servers_.end();) {
        if (there.contains(at->first)) {
            ++at;
            continue;
        }
        ended(session, at->first, at->second);
        ended_early_.erase(at->first);
        at = servers_.erase(at);
    }
    for (const auto server : std::exchange(ended_early_, {}))
        violated("I24", "a lease of server " + std::to_string(server) + " ended before its end");
}

// The limits of the queue of mails, whatever servers do and when they die.
void Checks::see_mails(store::Session& session, const Had& had) {
    std::map<std::string, int> running;
    int in_all = 0;
    session.run(look_at_mails, {}, [&](const detail::Row& row) {
        ++in_all;
        if (row.is_null(2)) return violated("I25", "a running mail is not counted");
        if (++running[std::string{row.text(2)}] > limits_.partition_max &&
            limits_.partition_max > 0)
            violated("I25", "too many mails of " + std::string{row.text(2)} + " at once");
        if (claims_.emplace(row.integer(0), row.integer(1)).second)
            claimed_at_.push_back(world_.clock.now());
    });
    if (limits_.running_max > 0 && in_all > limits_.running_max)
        violated("I25", "too many mails at once");
    if (limits_.token_each.count() == 0 || had.clock_steps) return;
    for (std::size_t first = 0; first < claimed_at_.size(); ++first) {
        const auto within = claimed_at_.back() - claimed_at_[first];
        const auto most = limits_.burst + within / limits_.token_each;
        if (static_cast<std::int64_t>(claimed_at_.size() - first) > most)
            violated("I25", "mails begin too fast");
    }
}

void Checks::ended(store::Session& session, std::int64_t id, const Server& server) {
    const bool lives = world_.locks.contains(server.lock);
    ended_a_living_server_ = ended_a_living_server_ || lives;
    const auto& times = world_.server_times;
    if (world_.clock.steady() - server.beaten_at < (lives ? times.silent_max : times.silent_min))
        violated("I24", "server " + std::to_string(id) + " was ended too early");
    for (const auto& [key, row] : rows_)
        if (row.server_id == id && !row.gone && row.status == "open" && !row.calling &&
            row.lease_until && *row.lease_until > world_.clock.now())
            violated("I24", "an ended server still holds " + row.who);
    const std::array values{store::Value{id}};
    session.run(jobs_of_server, values, [&](const detail::Row& row) {
        if (row.integer(0) > 0) violated("I24", "an ended server still holds a job");
    });
}

bool Checks::dead_servers_are_there() const {
    return std::any_of(servers_.begin(), servers_.end(), [&](const auto& each) {
        return !world_.locks.contains(each.second.lock);
    });
}

// The fence: epochs of the pages only grow, and each epoch has one holder.
void Checks::check_pages(store::Session& session) {
    std::int64_t last = 0;
    std::string holder;
    session.run(look_at_books, {}, [&](const detail::Row& row) {
        const auto epoch = row.integer(0);
        if (epoch < last) violated("I23", "a page follows one of a later epoch");
        if (epoch == last && holder != row.text(1)) violated("I23", "two holders have an epoch");
        last = epoch;
        holder = row.text(1);
    });
}

// Attempts grow and recovery points never go back, for all servers. No server takes over a key that
// another server holds.
void Checks::see(Row row, const Had& had) {
    state_of_rows_ = mixed(
        state_of_rows_, static_cast<std::uint64_t>(row.id * 1'000 + row.attempt * 10 + row.rank)
    );
    state_of_rows_ =
        mixed(state_of_rows_, std::hash<std::string>{}(row.status + (row.lease_until ? "h" : "f")));
    if (row.rank < 0) violated("I4", "an unknown point: " + row.point);
    row.holder = server_;
    const auto [at, fresh] = rows_.try_emplace(row.id, row);
    if (fresh) return;
    auto& last = at->second;
    if (row.attempt == last.attempt) row.holder = last.holder;
    if (row.attempt == last.attempt && row.status == "open" && last.status == "open" &&
        last.lease_until && !row.lease_until && server_ != row.holder)
        violated("I19", row.who + " was unlocked by a server that did not hold it");
    const auto now = world_.clock.now();
    if (row.attempt == last.attempt && row.status == "open" && last.lease_until &&
        *last.lease_until > now && row.lease_until && *row.lease_until <= now) {
        if (last.calling) violated("I24", "the lease of a call ended with its server");
        ended_early_.insert(row.server_id);
    }
    if (row.attempt < last.attempt) violated("I15", "an attempt decreased");
    if (row.attempt > last.attempt + 1) violated("I15", "an attempt was skipped");
    if (row.rank < last.rank) violated("I4", "a recovery point went back");
    if (row.attempt > last.attempt && last.held && last.status == "open")
        violated("I25", "an attempt of " + row.who + " began while an operator held the key");
    if (row.attempt > last.attempt && last.lease_until && *last.lease_until > now &&
        *last.lease_until <= now + 2 * world_.lease)
        violated("I19", row.who + " was taken over under a lease");
    if (row.attempt == last.attempt && row.rank == last.rank && last.status == "finished" &&
        row.status != last.status)
        violated("I3", "a stored answer has changed");
    const bool asks = row.operation == BuyRouted::name &&
                      (had.clock_steps || had.jumps || undecided_for_long(world_.banks, row.who));
    if (row.status == "attention" && last.status != "attention" && row.operation != BuyOnce::name &&
        !asks && !had.days && !had.restored && !had.clock_went_back &&
        !any_stored_an_error(world_.banks) && !world_.carrier.stored_an_error)
        violated("I10", "on the attention list, although the receiver honours keys");
    row.asked_since = row.status == last.status && row.attempt == last.attempt
                          ? last.asked_since
                          : world_.clock.steady();
    last = std::move(row);
}

// Only the reaper removes keys, and only settled and old ones.
void Checks::missed(Row& row) {
    row.gone = true;
    if (row.status != "finished")
        violated("I14", row.who + " was removed, though it is " + row.status);
    else if (!row.expires_at || *row.expires_at > world_.clock.now())
        violated("I14", row.who + " was removed before its time");
}

const Checks::Row* Checks::row_of(const std::string& who) const {
    for (const auto& [id, row] : rows_)
        if (row.who == who) return &row;
    return nullptr;
}

void Checks::final_answer(
    const Asked& asked, const engine::StoredResponse& settled, const Had& had
) {
    inspect(had);
    const auto& response = settled.response;
    const auto* row = row_of(asked.who);
    const auto mine = "\"what\":\"" + asked.what + "\"";
    if (row == nullptr || row->status != "finished" || row->response_status != response.status)
        return violated("I3", asked.who + " was answered before its answer was stored");
    if (row->params.find(mine) == std::string::npos)
        violated("I12", "another request got the answer of the first");
    if (response.body.find("\"who\":\"" + asked.who + "\"") == std::string::npos ||
        response.body.find(mine) == std::string::npos)
        violated("I13", asked.who + " got the answer of another: " + response.body);
    auto [at, first] = finals_.emplace(asked.who, Final{response.status, response.body, 0});
    if (!first && (at->second.status != response.status || at->second.body != response.body))
        violated(
            "I3",
            asked.who + " was answered " + std::to_string(at->second.status) + " " +
                at->second.body + ", then " + std::to_string(response.status) + " " + response.body
        );
    if (!settled.replayed && ++at->second.not_replayed > 1)
        violated("C6", asked.who + " got a first answer twice");
}

void Checks::refused(const Asked& asked, engine::Reason why, bool free, const Had& had) {
    inspect(had);
    const auto* row = row_of(asked.who);
    if (row == nullptr && why != engine::Reason::key_reused && why != engine::Reason::key_expired &&
        why != engine::Reason::needs_attention)
        return;
    if (row == nullptr) return violated("I13", asked.who + " was told about the key of another");
    const bool same = row->params.find("\"what\":\"" + asked.what + "\"") != std::string::npos;
    if (why == engine::Reason::key_reused && same)
        violated("I12", "the same request counted as another");
    if (why == engine::Reason::key_expired && !row->gone)
        violated("I14", asked.who + " was called expired, but is there");
    if (why == engine::Reason::stranded) violated("I10", "a point was called unknown");
    if (why == engine::Reason::in_progress && free && row->lease_until &&
        *row->lease_until > world_.clock.now() + 2 * world_.lease)
        violated("I16", asked.who + " is held past twice its lease");
}

void Checks::job_tried(const JobSeen& job, bool fails, const Had& had) {
    if (job.key_id) {
        const auto row = rows_.find(*job.key_id);
        if (row == rows_.end() || (row->second.status != "finished" && !row->second.gone))
            violated("I9", "a job of " + job.who + " was seen before its request committed");
    }
    const auto now = world_.clock.steady();
    auto& last = tried_[{std::string{job.kind}, job.who}];
    if (!last.jid.empty() && last.jid != job.id)
        violated("I6", "two " + std::string{job.kind} + " jobs for " + job.who);
    // It has all earlier tries, or exists twice, each with its own tries.
    const auto pushed = world_.broker.entries.find(job.id);
    const bool anew =
        merged_.contains(job.id) || (pushed != world_.broker.entries.end() && pushed->second > 1);
    // A handler in a transaction may run before the fence notices that its worker slept too long; a
    // clock that is set back and forth hides that from a worker that calls, as does the end of its
    // lease before its time.
    const bool slept = job.kind == Pack::kind || had.clock_steps || ended_a_living_server_;
    if (job.attempt < last.attempt && slept) return;
    if (job.attempt < last.attempt && !anew) violated("I18", "an attempt of a job decreased");
    if (job.attempt > last.attempt + 1 && !anew) violated("I18", "an attempt of a job was skipped");
    if (last.failed_at && job.attempt == last.attempt + 1 && !anew && !had.clock_steps) {
        const auto layer = retry_layers.at(static_cast<std::size_t>(last.attempt - 1));
        // For good: a person's act may commit after the try that it was meant for.
        if (now - *last.failed_at < layer && !hurried_.contains(job.id))
            violated("I18", "a job was tried again too early");
    }
    if (last.failed_at && job.attempt == last.attempt && !anew && had.calm())
        violated("I18", "a failure of a job was not counted");
    if (job.attempt != last.attempt) last.failed_at.reset();
    last.jid = job.id;
    last.attempt = job.attempt;
    if (!fails) return;
    // The first failure of this try: a later one may belong to the same try, brought again.
    if (!last.failed_at) last.failed_at = now;
    throw std::runtime_error{"a planted failure"};
}

void Checks::operates(bool purges, const std::vector<queue::DeadLetter>& letters) {
    for (const auto& letter : letters)
        if (purges)
            purged_.insert(letter.kind + letter.args);
        else
            merged_.insert(letter.jid);
}

void Checks::operated(std::optional<int> done) {
    letters_done_ += done.value_or(0);
    steered(done);
}

void Checks::hurries(const std::vector<queue::ListedJob>& jobs) {
    for (const auto& job : jobs) hurried_.insert(job.jid);
}

void Checks::steered(std::optional<int> done) {
    if (!done) ++acts_in_doubt_;
    if (done && *done > 0) ++acts_;
}

bool Checks::jobs_are_open() {
    for (const auto& [id, job] : world_.broker.jobs)
        if (job.state != Broker::Job::State::dead) return true;
    const auto changes = world_.database.changes();
    if (!open_jobs_ || open_jobs_->first != changes)
        open_jobs_.emplace(
            changes,
            number(
                "SELECT (SELECT count(*) FROM pawl_jobs) + (SELECT count(*) FROM pawl_staged_jobs)"
            )
        );
    return open_jobs_->second > 0;
}

bool Checks::keys_are_open() const {
    return std::any_of(rows_.begin(), rows_.end(), [](const auto& each) {
        return !each.second.gone && each.second.status != "finished";
    });
}

std::string Checks::what_is_open() {
    std::string open;
    for (const auto& [id, row] : rows_)
        if (!row.gone && row.status != "finished")
            open += row.who + " is " + row.status + " at " + row.point + ", attempt " +
                    std::to_string(row.attempt) + "; ";
    return open + std::to_string(number("SELECT count(*) FROM pawl_jobs")) + " jobs, " +
           std::to_string(number("SELECT count(*) FROM pawl_staged_jobs")) + " staged, " +
           std::to_string(world_.broker.jobs.size()) + " outside";
}

void Checks::end(const Had& had) {
    look_at_all(had);
    const auto orders = texts("SELECT who FROM orders");
    const auto payments = texts("SELECT who FROM payments");
    for (const auto& each : rows_) {
        const auto& row = each.second;
        if (row.operation == Ships::name) continue;
        const auto charges = charges_of(world_.banks, row.who);
        const auto times = [&](const std::vector<std::string>& in) {
            return static_cast<std::size_t>(std::count(in.begin(), in.end(), row.who));
        };
        // A clock that is set forward may end the wait for a final answer too early (ADR 32, seed
        // 300008271).
        const bool waits_by_clock = row.operation == BuyRouted::name && had.clock_steps;
        if (waits_by_clock && charges > 1) continue;
        if (charges > 1) violated("I1", std::to_string(charges) + " charges of " + row.who);
        if (row.response_status == 201 && charges != 1)
            violated("I2", row.who + " was not charged");
        if (row.response_status == 402 && charges != 0)
            violated("I2", row.who + " was both charged and refused");
        const bool refused = row.params.find(sold_out) != std::string::npos;
        if (refused != (row.response_status == 422))
            violated("I2", row.who + " ended with " + std::to_string(row.response_status));
        if (refused && charges != 0) violated("I2", row.who + " was refused and charged");
        if (!refused && row.response_status != 201 && row.response_status != 402)
            violated("I2", row.who + " ended with " + std::to_string(row.response_status));
        if (times(orders) != (refused ? 0U : 1U))
            violated("I5", std::to_string(times(orders)) + " orders of " + row.who);
        const bool paid = row.response_status == 201;
        if (times(payments) != (paid ? 1U : 0U))
            violated("I5", std::to_string(times(payments)) + " payments of " + row.who);
        if (paid && world_.works) check_jobs_of(row.who, had);
    }
    if (letters_done_ > static_cast<int>(deaths_.size()))
        violated(
            "I17",
            std::to_string(letters_done_) + " dead letters merged or purged of " +
                std::to_string(deaths_.size())
        );
    const auto audited = number(
        "SELECT count(*) FROM pawl_audit_log WHERE action IN ('merge', 'purge', 'cancel', 'retry')"
    );
    if (audited < acts_ || audited > acts_ + acts_in_doubt_)
        violated(
            "I22",
            std::to_string(audited) + " acts are in the audit log, expected " +
                std::to_string(acts_)
        );
    state_ =
        mixed(state_, static_cast<std::uint64_t>(world_.clock.now().time_since_epoch().count()));
}

}  // namespace pawl::simulation
