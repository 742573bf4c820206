#include "src/ops/dead_letters.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace pawl::ops {

namespace {

using namespace std::chrono_literals;

constexpr TimePoint begun{1'000'000ms};

class NoChance final : public base::Random {
public:
    std::uint64_t next() override { return 0; }
};

// During a merge the merged jobs die again, and as many others, after all that were there.
class Dying final : public queue::DeadLetters {
public:
    Dying() {
        for (int i = 0; i < 3; ++i) die(std::to_string(i));
    }
    std::vector<queue::DeadLetter> page(
        const queue::DeadLetterFilter& filter, const std::string& after, int limit
    ) override {
        std::vector<queue::DeadLetter> found;
        for (auto at = letters_.upper_bound(after); at != letters_.end(); ++at)
            if (std::ssize(found) < limit &&
                !(filter.died_before && at->second.died_at >= *filter.died_before))
                found.push_back(at->second);
        return found;
    }
    queue::PurgeResult
    merge(std::span<const std::string> ids, const queue::AuditEntry&, std::optional<TimePoint>)
        override {
        now_ += merge_takes;
        for (const auto& id : ids) {
            die(letters_.extract(id).mapped().jid);
            if (others_die) die("other " + std::to_string(deaths_));
        }
        return {static_cast<int>(ids.size()), 0, 0};
    }
    std::vector<queue::DeadLetterGroup> groups(const queue::DeadLetterFilter&) override {
        return {};
    }
    std::optional<queue::DeadLetter> find(const std::string&) override { return std::nullopt; }
    queue::PurgeResult purge(std::span<const std::string>, const queue::AuditEntry&) override {
        return {};
    }

    std::chrono::milliseconds merge_takes{0};
    bool others_die{false};

private:
    void die(const std::string& jid) {
        queue::DeadLetter letter;
        letter.id = std::to_string(1'000 + deaths_++);
        letter.jid = jid;
        letter.died_at = now_;
        letters_.emplace(letter.id, letter);
    }

    TimePoint now_{begun};
    int deaths_{0};
    std::map<std::string, queue::DeadLetter> letters_;
};

std::int64_t merged(Dying& letters) {
    NoChance random;
    constexpr int too_many = 100;
    return merge_dead_letters(
               letters,
               died_by(begun, {}),
               {"ann", "why"},
               std::nullopt,
               random,
               [](const DeadLetterReport& report) { return report.chosen < too_many; }
    ).chosen;
}

}  // namespace

// Before, `dlq merge --all` never ended if a job died at once.
TEST(DeadLettersTest, a_job_that_dies_again_during_a_merge_is_not_merged_again) {
    Dying letters;

    EXPECT_EQ(merged(letters), 3);
}

TEST(DeadLettersTest, a_job_that_first_dies_during_a_merge_is_not_merged) {
    Dying letters;
    letters.others_die = true;
    letters.merge_takes = 20s;

    EXPECT_EQ(merged(letters), 3 + 3) << "clocks may differ by 20 s, not by 40 s";
}

TEST(DeadLettersTest, an_earlier_bound_is_kept) {
    DeadLetterChoice choice;
    choice.filter.died_before = begun - 1h;
    EXPECT_EQ(died_by(begun, choice).filter.died_before, begun - 1h);
    choice.filter.died_before = begun + 1h;
    EXPECT_EQ(died_by(begun, choice).filter.died_before, begun + 30s);
}

}  // namespace pawl::ops
