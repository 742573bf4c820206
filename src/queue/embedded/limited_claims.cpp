#include "src/queue/embedded/limited_claims.hpp"

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>

#include "store/statements.hpp"

#include <algorithm>
#include <string_view>

namespace pawl::queue {

using detail::execute_statement;
using detail::Row;
using detail::run_statement;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds until_other_claim_ends{5};
constexpr milliseconds until_next_walk{20};
constexpr std::int64_t put_at_once = 1'000;

core::Microseconds since_1970(TimePoint at) {
    return duration_cast<core::Microseconds>(at.time_since_epoch());
}

}  // namespace

// One claim's view of the queue.
struct LimitedClaims::Claim {
    detail::Session& session;
    const ClaimFilter& filter;
    const LimitedClaims& of;
    TimePoint now;
    std::string without_kinds;
    core::QueueUse use{};
    std::map<std::string, int, std::less<>> running{};  // Jobs of each partition.
    bool cut_short{false};  // Partitions are left that the next claim will look at.

    void count() {
        const auto add = [&](const Row& row) {
            running[std::string{row.text(0)}] = static_cast<int>(row.integer(1));
            use.running += row.integer(1);
            use.retries_running += row.integer(2);
        };
        run_statement(session, sql::count_limited_jobs, add, of.queue_);
    }
    int room_of(std::string_view partition) const {
        const auto at = running.find(partition);
        return of.limits_.partition_max - (at == running.end() ? 0 : at->second);
    }
    // The statements that pick have the same parameters, but for the fourth.
    template <class Fourth>
    void pick(const Sql& statement, Picked& picked, int limit, const Fourth& from_or_partition)
        const {
        const auto add = [&](const Row& row) {
            picked.ids.push_back(row.integer(0));
            picked.latest =
                std::max(picked.latest, detail::column_as<TimePoint>(row, 1, statement.name));
        };
        run_statement(
            session,
            statement,
            add,
            of.queue_,
            now,
            limit,
            from_or_partition,
            filter.failures_min,
            filter.failures_max,
            without_kinds,
            picked.poll.priority()
        );
    }
    // The partitions that are next after this one, at most `limit`, and have a due job and room.
    std::vector<std::string> next_partitions(
        const Picked& picked, int limit, const std::string& after
    ) {
        std::vector<std::string> full;
        for (const auto& [partition, jobs] : running)
            if (jobs >= of.limits_.partition_max) full.push_back(partition);
        std::vector<std::string> next;
        const auto add = [&](const Row& row) {
            next.emplace_back(row.text(0));
            if (row.integer(1) == 0) cut_short = true;
        };
        run_statement(
            session,
            sql::pick_partitions,
            add,
            of.queue_,
            now,
            limit,
            after,
            filter.failures_min,
            filter.failures_max,
            without_kinds,
            picked.poll.priority(),
            detail::encode(full)
        );
        return next;
    }
};

LimitedClaims::LimitedClaims(std::string queue, core::QueueLimits limits)
    : queue_{std::move(queue)}, limits_{limits} {}

std::optional<core::Microseconds> LimitedClaims::full_at(
    detail::Session& session, const Sql& statement
) const {
    std::optional<core::Microseconds> found;
    const auto read = [&](const Row& row) { found = core::Microseconds{row.integer(0)}; };
    run_statement(session, statement, read, queue_);
    return found;
}

// nullopt: another server is claiming.
std::optional<core::Microseconds> LimitedClaims::lock(detail::Session& session) const {
    if (auto locked = full_at(session, sql::lock_queue_limits)) return locked;
    // A server of another release, to which the queue has no limits, may have deleted the row. An
    // insert would wait for a claim that has changed it.
    if (full_at(session, sql::find_queue_limits)) return std::nullopt;
    execute_statement(session, sql::insert_queue_limits, queue_);
    return full_at(session, sql::lock_queue_limits);
}

bool LimitedClaims::has_room(detail::Session& session, const ClaimFilter& filter) {
    Claim claim{
        .session = session,
        .filter = filter,
        .of = *this,
        .now = session.now(),
        .without_kinds = {}};
    claim.count();
    auto& at = claim.use.full_at;
    at = full_at(session, sql::find_queue_limits).value_or(core::Microseconds{});
    const auto now = since_1970(claim.now);
    const auto room = core::decide_claim_room(limits_, claim.use, filter.retries_only(), 1, now);
    held_back_.set(filter, std::chrono::ceil<milliseconds>(room.more_in));
    // A bucket that is full too late is stored anew by a claim.
    return room.jobs > 0 || core::full_at_after(limits_, at, 0, now) < at;
}

std::vector<LimitedClaims::Picked> LimitedClaims::pick(
    detail::Session& session,
    const ClaimFilter& filter,
    const std::vector<QueueCursors::Poll>& due,
    int asked
) {
    const auto full_at = lock(session);
    if (!full_at) {
        held_back_.set(filter, until_other_claim_ends);
        return {};
    }
    Claim claim{
        .session = session,
        .filter = filter,
        .of = *this,
        .now = session.now(),
        .without_kinds = detail::encode(filter.without_kinds)};
    claim.count();
    claim.use.full_at = *full_at;
    const auto now = since_1970(claim.now);
    const auto room =
        core::decide_claim_room(limits_, claim.use, filter.retries_only(), asked, now);
    int left = room.jobs;
    std::vector<Picked> found;
    for (const auto& poll : due) {
        if (left == 0) break;
        auto& picked = found.emplace_back(Picked{.poll = poll});
        if (in_turns())
            pick_in_turns(claim, picked, left);
        else
            pick_by_time(claim, picked, left);
        picked.all = picked.ids.size() < static_cast<std::size_t>(left);
        left -= static_cast<int>(picked.ids.size());
    }
    const auto after = core::full_at_after(limits_, *full_at, room.jobs - left, now);
    if (limits_.token_each.count() > 0 && (left < room.jobs || after < *full_at))
        execute_statement(session, sql::set_queue_full_at, queue_, after.count());
    held_back_.set(
        filter, claim.cut_short ? until_next_walk : std::chrono::ceil<milliseconds>(room.more_in)
    );
    return found;
}

void LimitedClaims::pick_by_time(const Claim& claim, Picked& picked, int limit) const {
    claim.pick(sql::pick_jobs, picked, limit, picked.poll.poll.from);
}

// From the partition after the one that was served last to the end, then from the beginning. Each
// gets its room, so that no partition waits for more than a round, however many jobs others have.
void LimitedClaims::pick_in_turns(Claim& claim, Picked& picked, int limit) {
    const std::lock_guard lock{mutex_};
    auto& turn = turns_[{picked.poll.priority(), claim.filter.retries_only()}];
    const auto began_after = turn;
    const auto left = [&] { return limit - static_cast<int>(picked.ids.size()); };
    const auto serve = [&](const std::string& after, bool second_round) {
        for (const auto& partition : claim.next_partitions(picked, left(), after)) {
            if (left() == 0 || (second_round && partition > began_after)) return;
            turn = partition;
            const auto before = picked.ids.size();
            const auto room = std::min(claim.room_of(partition), left());
            if (room > 0) claim.pick(sql::pick_partition_jobs, picked, room, partition);
            claim.running[partition] += static_cast<int>(picked.ids.size() - before);
        }
    };
    serve(began_after, false);
    if (left() > 0 && !claim.cut_short) serve("", true);
}

void LimitedClaims::give_partitions(store::Store& store) const {
    bool none = true;
    store::read_now(store, [&](store::Session& session) {
        const auto found = [&](const Row&) { none = false; };
        run_statement(session, sql::find_job_without_partition, found, queue_);
    });
    if (none) return;
    std::int64_t last = 0;
    for (std::int64_t found = put_at_once; found == put_at_once;)
        store::write_now(store, [&, before = last](store::Session& session) {
            found = 0;
            last = before;  // A run before this one may have been rolled back.
            const auto count = [&](const Row& row) {
                last = std::max(last, row.integer(0));
                ++found;
            };
            run_statement(session, sql::put_jobs_in_a_partition, count, queue_, last, put_at_once);
        });
}

}  // namespace pawl::queue
