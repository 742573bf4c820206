#include "src/base/random.hpp"
#include "src/ops/dead_letters.hpp"
#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "tests/engine/world.hpp"

#include <gmock/gmock.h>

namespace pawl::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Ids = std::vector<std::string>;

// Selects dead letters by ids, a filter or a sample.
class DeadChoiceTest : public ::testing::Test {
protected:
    void SetUp() override {
        queue::EmbeddedQueue queue{world.store};
        for (int i = 0; i < 3; ++i) {
            world.execute(
                "INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, created_at) VALUES "
                "('j" +
                std::to_string(i) +
                "', 'default', 'k', '{}', 'ready', '2020-01-01T00:00:00.000Z', "
                "'2020-01-01T00:00:00.000Z')"
            );
            const auto taken = queue.claim(1, 60s);
            ASSERT_EQ(taken.size(), 1U);
            ASSERT_TRUE(queue.dead_letter(taken.front(), "for good"));
        }
        all = chosen({});
        ASSERT_THAT(all, SizeIs(3));
    }
    static ops::DeadLetterChoice these(Ids ids, std::optional<int> sample = {}) {
        return {.ids = std::move(ids), .filter = {}, .sample = sample};
    }
    Ids chosen(const ops::DeadLetterChoice& choice) {
        Ids ids;
        ops::each_dead_letter(letters, choice, random, [&](const queue::DeadLetter& letter) {
            ids.push_back(letter.id);
        });
        return ids;
    }
    World world;
    queue::EmbeddedDeadLetters letters{world.store};
    base::Random& random{base::system_random()};
    Ids all;
};

TEST_F(DeadChoiceTest, ids_select_themselves_and_unknown_ones_nothing) {
    EXPECT_THAT(chosen(these({all[2], "999", all[0]})), ElementsAre(all[2], all[0]));
}

TEST_F(DeadChoiceTest, a_sample_is_taken_of_the_ids_or_of_all) {
    EXPECT_THAT(chosen(these({all[1]}, 5)), ElementsAre(all[1]));
    EXPECT_THAT(chosen(these({}, 2)), SizeIs(2));
    EXPECT_THAT(chosen(these({}, 0)), IsEmpty());
}

TEST_F(DeadChoiceTest, a_batch_may_be_the_last) {
    const auto stop = [](const ops::DeadLetterReport&) { return false; };

    const auto report = ops::purge_dead_letters(
        letters, these({all[0], "999"}), {.by = "ann", .reason = "test"}, random, stop
    );

    EXPECT_EQ(report.chosen, 2);
    EXPECT_EQ(report.done, 1);
    EXPECT_EQ(report.gone, 1);
    EXPECT_THAT(chosen({}), ElementsAre(all[1], all[2]));
}

}  // namespace
}  // namespace pawl::testing
