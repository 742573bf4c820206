#include "tests/simulation/exhaust.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace pawl::simulation {

using List = std::vector<std::uint8_t>;

std::optional<List> next_list(List taken, const List& highest, int deviations) {
    auto before = std::count_if(taken.begin(), taken.end(), [](auto c) { return c != 0; });
    while (!taken.empty()) {
        const auto last = taken.back();
        if (last != 0) --before;
        if (last < highest[taken.size() - 1] && before < deviations) {
            ++taken.back();
            return taken;
        }
        taken.pop_back();
    }
    return std::nullopt;
}

Exhausted live_all(
    HistoryOptions options, int deviations, const std::function<bool(const Exhausted&)>& goes_on
) {
    Exhausted so_far;
    std::unordered_set<std::uint64_t> states;
    options.small = true;
    options.on_state = [&states](std::uint64_t state) { states.insert(state); };
    std::optional<List> list{List{}};
    while (list && !so_far.violation && goes_on(so_far)) {
        Choices choices{std::move(*list)};
        const auto ended = live(choices, options);
        ++so_far.histories;
        so_far.steps += static_cast<std::uint64_t>(ended.steps);
        so_far.states = states.size();
        so_far.violation = ended.violation;
        if (ended.violation) so_far.choices = choices.taken();
        list = next_list(choices.taken(), choices.highest(), deviations);
    }
    return so_far;
}

}  // namespace pawl::simulation
