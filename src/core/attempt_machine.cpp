#include "src/core/attempt_machine.hpp"

#include "src/core/assert.hpp"

#include <array>
#include <concepts>

namespace pawl::core::attempt {

namespace {

template <class... S>
requires(std::same_as<S, State>&&...) constexpr States of(S... states) {
    return ((States{1} << unsigned(states)) | ...);
}
template <class... E>
requires(std::same_as<E, Event>&&...) constexpr Events of(E... events) {
    return ((Events{1} << unsigned(events)) | ...);
}
static_assert(state_count <= 32 && event_count <= 64);

using enum State;
using E = Event;
using A = Action;

constexpr auto every_lookup =
    of(looking_up,
       looking_up_after_lost_id,
       looking_up_after_lock,
       looking_up_after_failure,
       looking_up_after_defect);
constexpr auto claims = of(claiming_unseen, claiming);
constexpr auto keeps = of(keeping, keeping_alone);
constexpr auto delayed = keeps | of(beginning_anew, storing_result, noting_result);
constexpr auto fenceable = keeps | of(beginning_anew, unlocking, handing_over, storing_result);
constexpr auto advances = claims | keeps | of(looking_up_after_doubt, settling);

// clang-format off
constexpr Row rows[] = {
    {of(idle, waiting), of(E::new_key), claiming_unseen, A::claim},
    {of(idle, waiting), of(E::known_key), looking_up, A::look_up},
    {of(idle), of(E::open_key), claiming, A::take_over},
    {of(idle), of(E::decision), settling, A::settle},

    {every_lookup, of(E::answered, E::lookup_failed), ended, A::respond},
    {every_lookup, of(E::busy), waiting, A::park},
    {every_lookup, of(E::claimable), claiming, A::claim},
    {of(looking_up), of(E::not_found), claiming, A::claim},
    {of(looking_up_after_lost_id), of(E::not_found), claiming, A::claim_with_other_ids},
    {of(looking_up_after_lock), of(E::not_found), waiting, A::park},
    {of(looking_up_after_failure), of(E::not_found), ended, A::respond},
    {of(looking_up_after_defect), of(E::not_found), recording_failure, A::record_failed_claim},
    {of(looking_up_after_doubt), of(E::not_ours), ended, A::respond},
    {of(looking_up_after_fence), of(E::answered, E::busy, E::lookup_failed), ended, A::respond},

    {advances, of(E::reached_end), ended, A::respond},
    {advances | of(beginning_anew), of(E::reached_call), calling, A::make_call},
    {claims, of(E::reached_doubt), inquiring, A::inquire},
    {claims, of(E::reached_result), keeping, A::commit_keep},

    {claims, of(E::answered, E::rejected), ended, A::respond},
    {claims, of(E::busy), waiting, A::park},
    {claims, of(E::lost_id), looking_up_after_lost_id, A::look_up},
    {claims, of(E::in_doubt), looking_up_after_doubt, A::look_up_commit},
    {of(claiming_unseen), of(E::locked), looking_up_after_lock, A::look_up},
    {of(claiming_unseen), of(E::transient), looking_up_after_failure, A::look_up},
    {of(claiming_unseen), of(E::defect), looking_up_after_defect, A::look_up},
    {of(claiming), of(E::locked), waiting, A::park},
    {of(claiming), of(E::transient), ended, A::respond},
    {of(claiming), of(E::defect), recording_failure, A::record_failed_claim},
    {of(settling), of(E::busy, E::transient, E::fenced), ended, A::respond},
    {of(settling), of(E::defect), recording_failure, A::record_failed_settlement},
    {of(recording_failure), of(E::written), ended, A::respond},

    {of(waiting), of(E::time_over), waiting, A::serve_next},
    {of(waiting), of(E::next_client), waiting, A::park},
    {of(waiting), of(E::no_client), ended, A::none},
    {of(waiting), of(E::rejected, E::stopping), ended, A::respond},

    {of(calling, inquiring), of(E::result), keeping, A::commit_keep},
    {of(calling), of(E::not_made), unlocking, A::unlock_unmarked},
    {of(calling), of(E::ask), inquiring, A::inquire},
    {of(inquiring), of(E::ask_later), unlocking, A::unlock_asked},
    {of(calling, inquiring), of(E::call_anew), beginning_anew, A::begin_anew},
    {of(calling, inquiring, beginning_anew), of(E::needs_person), handing_over, A::hand_over},
    {of(calling, inquiring, beginning_anew) | keeps, of(E::try_again), unlocking, A::unlock},
    {of(beginning_anew), of(E::keep_later), beginning_anew, A::retry_later},
    {of(beginning_anew), of(E::due), beginning_anew, A::begin_anew},

    {keeps | of(storing_result), of(E::fenced_result), noting_result, A::note_result},
    {fenceable, of(E::fenced), looking_up_after_fence, A::look_up_holder},
    {of(keeping), of(E::keep_alone), keeping_alone, A::commit_keep_only},
    {of(keeping), of(E::keep_later), keeping, A::retry_later},
    {of(keeping), of(E::due), keeping, A::commit_keep},
    {of(keeping_alone), of(E::answered), ended, A::respond},
    {of(keeping_alone), of(E::keep_later), keeping_alone, A::retry_later},
    {of(keeping_alone), of(E::due), keeping_alone, A::commit_keep_only},
    {of(keeping_alone), of(E::not_recorded), storing_result, A::store_result},
    {delayed, of(E::stopping), ended, A::respond},

    {of(unlocking), of(E::written), ended, A::respond},
    {of(handing_over), of(E::written, E::transient, E::defect), ended, A::respond},
    {of(storing_result), of(E::written, E::defect), ended, A::respond},
    {of(storing_result), of(E::transient), storing_result, A::retry_later},
    {of(storing_result), of(E::due), storing_result, A::store_result},
    {of(noting_result), of(E::written), looking_up_after_fence, A::look_up_holder},
    {of(noting_result), of(E::defect), ended, A::respond},
    {of(noting_result), of(E::transient), noting_result, A::retry_later},
    {of(noting_result), of(E::due), noting_result, A::note_result},
};
// clang-format on

constexpr bool has(std::uint64_t set, std::size_t n) {
    return (set >> n & 1) != 0;
}

// 1 + the row of each pair; 0: not allowed. A pair in two rows does not compile.
constexpr auto row_of = [] {
    std::array<std::array<std::uint8_t, event_count>, state_count> found{};
    for (std::size_t n = 0; n < std::size(rows); ++n)
        for (std::size_t s = 0; s < state_count; ++s)
            for (std::size_t e = 0; e < event_count; ++e) {
                if (!has(rows[n].from, s) || !has(rows[n].on, e)) continue;
                if (found[s][e] != 0) throw "a pair in two rows";
                found[s][e] = static_cast<std::uint8_t>(n + 1);
            }
    return found;
}();

}  // namespace

std::span<const Row> table() noexcept {
    return rows;
}

bool allowed(State state, Event event) noexcept {
    return row_of[std::size_t(state)][std::size_t(event)] != 0;
}

const Row& step(State state, Event event) noexcept {
    PAWL_ASSERT(allowed(state, event));
    return rows[row_of[std::size_t(state)][std::size_t(event)] - 1];
}

// A stored response is also given by a process that can make no more calls.
Event event_of(const RequestFacts& facts) noexcept {
    return facts.probably_new && !facts.pool_full ? Event::new_key : Event::known_key;
}

Event event_of(AfterCall after) noexcept {
    constexpr Event events[] = {E::result, E::try_again, E::not_made, E::needs_person};
    return events[std::size_t(after)];
}

Event event_of(AfterFailedKeep after) noexcept {
    constexpr Event events[] = {
        E::keep_later, E::try_again, E::keep_alone, E::not_recorded, E::needs_person};
    return events[std::size_t(after)];
}

Event event_of_fence(Repeat again, HasResult result) noexcept {
    const bool lost = result == HasResult::yes && again == Repeat::never;
    return lost ? Event::fenced_result : Event::fenced;
}

// A take-over can't be told from another attempt's of the same number: then the lease decides, as
// after a crash.
bool is_committed(const DoubtFacts& facts) noexcept {
    return facts.found_id == facts.our_id && facts.our_attempt == 1 && facts.found_attempt == 1 &&
           facts.same_fingerprint;
}

}  // namespace pawl::core::attempt
