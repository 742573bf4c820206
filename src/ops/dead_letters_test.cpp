#include "src/ops/dead_letters.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace pawl::ops {

namespace {

using namespace std::chrono_literals;

constexpr TimePoint begun{1'000'000ms};

class NoChance final : public core::Random {
public:
    std::uint64_t next() override { return 0; }
};

// Whose merged jobs die again at once, behind all others.
class Dying final : public queue::DeadLetters {
public:
    Dying() {
        for (int i = 0; i < 3; ++i) die(begun);
    }
    std::vector<queue::DeadLetter> page(
        const queue::DeadFilter& filter, const std::string& after, int limit
    ) override {
        std::vector<queue::DeadLetter> found;
        for (auto at = letters_.upper_bound(after); at != letters_.end(); ++at)
            if (std::ssize(found) < limit &&
                !(filter.died_before && at->second.died_at >= *filter.died_before))
                found.push_back(at->second);
        return found;
    }
    queue::DeadDone
    merge(std::span<const std::string> ids, const queue::DeadAct&, std::optional<TimePoint>)
        override {
        for (const auto& id : ids) {
            letters_.erase(id);
            die(begun + 5ms);
        }
        return {static_cast<int>(ids.size()), 0, 0};
    }
    std::vector<queue::DeadGroup> groups(const queue::DeadFilter&) override { return {}; }
    std::optional<queue::DeadLetter> find(const std::string&) override { return std::nullopt; }
    queue::DeadDone purge(std::span<const std::string>, const queue::DeadAct&) override {
        return {};
    }
    std::size_t count() const { return letters_.size(); }

private:
    void die(TimePoint at) {
        queue::DeadLetter letter;
        letter.id = std::to_string(1'000 + deaths_++);
        letter.died_at = at;
        letters_.emplace(letter.id, letter);
    }

    int deaths_{0};
    std::map<std::string, queue::DeadLetter> letters_;
};

}  // namespace

// `dlq merge --all` went round and round a job that dies at once.
TEST(DeadLettersTest, what_dies_again_while_all_are_merged_is_not_merged_again) {
    Dying letters;
    NoChance random;
    const auto at_most_ten = [&](const DeadReport& report) { return report.chosen < 10; };

    const auto report = merge_dead_letters(
        letters, dead_by(begun, {}), {"ann", "why"}, std::nullopt, random, at_most_ten
    );

    EXPECT_EQ(report.chosen, 3) << "those of the time when it began, and that instant's too";
    EXPECT_EQ(letters.count(), 3);
}

TEST(DeadLettersTest, an_earlier_bound_is_kept) {
    DeadChoice choice;
    choice.filter.died_before = begun - 1h;
    EXPECT_EQ(dead_by(begun, choice).filter.died_before, begun - 1h);
    choice.filter.died_before = begun + 1h;
    EXPECT_EQ(dead_by(begun, choice).filter.died_before, begun + 1ms);
}

}  // namespace pawl::ops
