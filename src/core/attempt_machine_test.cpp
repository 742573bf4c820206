#include "src/core/attempt_machine.hpp"

#include "src/core/enum_name.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pawl::core::attempt::attempt_machine_test {
namespace {

template <class E, std::size_t... n>
std::vector<std::string> names(std::index_sequence<n...>) {
    return {std::string{enum_name<static_cast<E>(n)>()}...};
}

constexpr std::size_t action_count = std::size_t(Action::respond) + 1;
const auto states = names<State>(std::make_index_sequence<state_count>{});
const auto events = names<Event>(std::make_index_sequence<event_count>{});
const auto actions = names<Action>(std::make_index_sequence<action_count>{});

bool has(std::uint64_t set, std::size_t n) {
    return (set >> n & 1) != 0;
}

template <class F>
void for_each_pair(F f) {
    for (std::size_t s = 0; s < state_count; ++s)
        for (std::size_t e = 0; e < event_count; ++e) f(State(s), Event(e));
}

const Row* row_of(State state, Event event) {
    for (const auto& row : table())
        if (has(row.from, std::size_t(state)) && has(row.on, std::size_t(event))) return &row;
    return nullptr;
}

TEST(AttemptMachine, follows_the_table_for_each_state_and_event) {
    for_each_pair([](State state, Event event) {
        const auto* row = row_of(state, event);
        ASSERT_EQ(allowed(state, event), row != nullptr);
        if (row == nullptr) return;
        EXPECT_EQ(&step(state, event), row);
    });
}

TEST(AttemptMachineDeathTest, ends_the_process_at_an_event_that_the_table_does_not_have) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(step(State::idle, Event::result), "allowed");
    EXPECT_DEATH(step(State::keeping, Event::needs_person), "allowed");
    EXPECT_DEATH(step(State::ended, Event::written), "allowed");
}

TEST(AttemptMachine, reaches_each_state_and_from_each_the_end) {
    std::set<State> reached{State::idle};
    std::set<State> ending{State::ended};
    for (std::size_t n = 0; n < state_count; ++n)
        for_each_pair([&](State state, Event event) {
            if (!allowed(state, event)) return;
            const auto next = step(state, event).next;
            if (reached.contains(state)) reached.insert(next);
            if (ending.contains(next)) ending.insert(state);
        });
    EXPECT_EQ(reached.size(), state_count);
    EXPECT_EQ(ending.size(), state_count);
}

// What the driver may report after each action.
std::set<Event> reports_of(Action action) {
    using enum Event;
    std::set<Event> claim{
        reached_end,
        reached_call,
        reached_doubt,
        reached_result,
        answered,
        busy,
        locked,
        lost_id,
        in_doubt,
        transient,
        defect};
    switch (action) {
        case Action::none:
        case Action::respond:
            return {};
        case Action::look_up:
            return {not_found, claimable, answered, busy, lookup_failed};
        case Action::look_up_commit:
            return {not_ours, reached_end, reached_call};
        case Action::look_up_holder:
            return {answered, busy, lookup_failed};
        case Action::claim:
            claim.insert(rejected);
            return claim;
        case Action::claim_with_other_ids:
        case Action::take_over:
            return claim;
        case Action::settle:
            return {reached_end, reached_call, busy, fenced, transient, defect};
        case Action::record_failed_claim:
        case Action::record_failed_settlement:
            return {written};
        case Action::park:
            return {rejected, time_over, stopping, new_key, known_key};
        case Action::serve_next:
            return {next_client, no_client};
        case Action::make_call:
            return {result, not_made, try_again, ask, call_anew, needs_person};
        case Action::inquire:
            return {result, ask_later, call_anew, try_again, needs_person};
        case Action::begin_anew:
            return {reached_call, fenced, try_again, keep_later, needs_person};
        case Action::commit_keep:
            return {
                reached_end,
                reached_call,
                fenced,
                fenced_result,
                try_again,
                keep_later,
                keep_alone};
        case Action::commit_keep_only:
            return {
                reached_end,
                reached_call,
                answered,
                fenced,
                fenced_result,
                try_again,
                keep_later,
                not_recorded};
        case Action::unlock:
        case Action::unlock_unmarked:
        case Action::unlock_asked:
            return {written, fenced};
        case Action::hand_over:
            return {written, transient, defect, fenced};
        case Action::store_result:
            return {written, transient, defect, fenced, fenced_result};
        case Action::note_result:
            return {written, transient, defect};
        case Action::retry_later:
            return {stopping, due};
    }
    return {};
}

TEST(AttemptMachine, expects_in_each_state_what_its_actions_report_and_nothing_else) {
    std::map<State, std::set<Event>> reported{
        {State::idle, {Event::new_key, Event::known_key, Event::open_key, Event::decision}}};
    for (const auto& row : table()) reported[row.next].merge(reports_of(row.action));
    for_each_pair([&](State state, Event event) {
        EXPECT_EQ(allowed(state, event), reported[state].contains(event))
            << states[std::size_t(state)] << ", " << events[std::size_t(event)];
    });
}

TEST(AttemptMachine, says_what_the_rules_of_a_key_mean) {
    EXPECT_EQ(event_of({.probably_new = true, .pool_full = false}), Event::new_key);
    EXPECT_EQ(event_of({.probably_new = true, .pool_full = true}), Event::known_key);
    EXPECT_EQ(event_of({.probably_new = false, .pool_full = false}), Event::known_key);
    EXPECT_EQ(event_of(AfterCall::keep), Event::result);
    EXPECT_EQ(event_of(AfterCall::try_again), Event::try_again);
    EXPECT_EQ(event_of(AfterCall::clear_mark), Event::not_made);
    EXPECT_EQ(event_of(AfterCall::needs_person), Event::needs_person);
    EXPECT_EQ(event_of(AfterFailedKeep::keep_later), Event::keep_later);
    EXPECT_EQ(event_of(AfterFailedKeep::call_again), Event::try_again);
    EXPECT_EQ(event_of(AfterFailedKeep::keep_alone), Event::keep_alone);
    EXPECT_EQ(event_of(AfterFailedKeep::store_result), Event::not_recorded);
    EXPECT_EQ(event_of(AfterFailedKeep::needs_person), Event::needs_person);
    EXPECT_EQ(event_of_fence(Repeat::never, HasResult::yes), Event::fenced_result);
    EXPECT_EQ(event_of_fence(Repeat::never, HasResult::no), Event::fenced);
    EXPECT_EQ(event_of_fence(Repeat::safe_with_key, HasResult::yes), Event::fenced);
}

TEST(AttemptMachine, takes_a_commit_in_doubt_for_done_by_the_id_of_a_first_attempt_alone) {
    const DoubtFacts ours{
        .found_id = 7, .found_attempt = 1, .same_fingerprint = true, .our_id = 7, .our_attempt = 1};
    EXPECT_TRUE(is_committed(ours));
    for (const auto& change : std::vector<void (*)(DoubtFacts&)>{
             [](DoubtFacts& f) { f.found_id = 8; },
             [](DoubtFacts& f) { f.found_attempt = 2; },
             [](DoubtFacts& f) { f.found_attempt = f.our_attempt = 2; },
             [](DoubtFacts& f) { f.same_fingerprint = false; }}) {
        auto facts = ours;
        change(facts);
        EXPECT_FALSE(is_committed(facts));
    }
}

std::string text_of(const std::string& path) {
    std::ifstream file{std::string{PAWL_SOURCE_DIR "/"} + path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::string listed(std::uint64_t set, const std::vector<std::string>& all) {
    std::string text;
    for (std::size_t n = 0; n < all.size(); ++n)
        if (has(set, n)) text += (text.empty() ? "" : ", ") + all[n];
    return text;
}

std::string markdown() {
    std::string text = "| state | event | next | action |\n|---|---|---|---|\n";
    for (const auto& row : table())
        text += "| " + listed(row.from, states) + " | " + listed(row.on, events) + " | " +
                states[std::size_t(row.next)] + " | " + actions[std::size_t(row.action)] + " |\n";
    return text;
}

TEST(AttemptMachine, is_drawn_in_ARCHITECTURE_md_as_it_is) {
    const auto document = text_of("ARCHITECTURE.md");
    const std::string begin = "<!-- attempt machine: begin -->\n";
    const auto from = document.find(begin);
    const auto to = document.find("<!-- attempt machine: end -->");
    ASSERT_NE(from, document.npos);
    ASSERT_NE(to, document.npos);
    const auto drawn = document.substr(from + begin.size(), to - from - begin.size());
    EXPECT_TRUE(drawn == markdown()) << "Put this between the two marks:\n" << markdown();
}

// Server of model/fused.pml, by its labels and ON(event).
struct Model {
    std::set<std::string> states;
    std::set<std::string> events;
    std::set<std::string> without_a_branch;
    std::vector<std::pair<std::vector<std::string>, std::string>> branches;
};

Model model() {
    const auto text = text_of("model/fused.pml");
    Model found;
    const std::regex word{"[a-z_]+"};
    const std::string list = "Events without a branch:";
    const auto listed_at = text.find(list) + list.size();
    const auto without = text.substr(listed_at, text.find('.', listed_at) - listed_at);
    for (std::sregex_iterator at{without.begin(), without.end(), word}, end; at != end; ++at)
        found.without_a_branch.insert(at->str());

    const auto from = text.find("proctype Server");
    const auto server = std::regex_replace(
        text.substr(from, text.find("proctype Provider") - from),
        std::regex{R"(/\*([^*]|\*[^/])*\*/)"},
        ""
    );
    const std::regex mark{
        R"(\b(?:end_)?([a-z]+(?:_[a-z]+)*)(?:__[a-z]+)?:(?!:)|\bON\(([a-z_]+)\))"};
    std::vector<std::string> labels;
    std::size_t label_ends = 0;
    for (std::sregex_iterator at{server.begin(), server.end(), mark}, end; at != end; ++at) {
        const auto position = std::size_t(at->position());
        if ((*at)[1].matched) {
            const auto between = server.substr(label_ends, position - label_ends);
            if (between.find_first_not_of(" \n") != between.npos) labels.clear();
            label_ends = position + std::size_t(at->length());
            labels.push_back((*at)[1]);
            found.states.insert((*at)[1]);
        } else {
            found.events.insert((*at)[2]);
            found.branches.emplace_back(labels, (*at)[2]);
        }
    }
    return found;
}

TEST(AttemptMachine, has_the_states_and_events_of_the_checked_model) {
    const auto checked = model();
    EXPECT_EQ(checked.states, std::set<std::string>(states.begin(), states.end()));
    auto named = checked.events;
    for (const auto& event : checked.without_a_branch)
        EXPECT_TRUE(named.insert(event).second) << event << " has a branch";
    EXPECT_EQ(named, std::set<std::string>(events.begin(), events.end()));
}

TEST(AttemptMachine, allows_each_branch_of_the_checked_model) {
    const auto at = [](const auto& all, const std::string& name) {
        return std::size_t(std::find(all.begin(), all.end(), name) - all.begin());
    };
    const auto checked = model();
    EXPECT_GE(checked.branches.size(), 40U);
    for (const auto& branch : checked.branches) {
        const auto& labels = branch.first;
        const auto event = Event(at(events, branch.second));
        EXPECT_TRUE(std::any_of(
            labels.begin(),
            labels.end(),
            [&](const auto& label) { return allowed(State(at(states, label)), event); }
        )) << labels.front()
           << ", " << branch.second;
    }
}

}  // namespace
}  // namespace pawl::core::attempt::attempt_machine_test
