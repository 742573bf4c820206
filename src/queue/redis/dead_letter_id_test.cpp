#include "src/queue/redis/dead_letter_id.hpp"

#include <gtest/gtest.h>

namespace pawl::queue::sidekiq {
namespace {

TEST(DeadPlaceTest, an_id_leads_back_to_its_place) {
    const auto place = dead_letter_id_of("1795250001.400001", "the job");

    EXPECT_EQ(place.id().substr(0, 17), "1795250001400001-");
    EXPECT_EQ(place.died_at(), TimePoint{std::chrono::milliseconds{1'795'250'001'400}});
    const auto back = parse_dead_letter_id(place.id());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->id(), place.id());
    EXPECT_LT(std::stod(place.least_score()), 1795250001.400001);
    EXPECT_GT(std::stod(place.most_score()), 1795250001.400001);
}

TEST(DeadPlaceTest, ids_sort_as_their_jobs_died) {
    EXPECT_LT(dead_letter_id_of("999.5", "z").id(), dead_letter_id_of("1795250001", "a").id());
    EXPECT_LT(
        dead_letter_id_of("1795250001.000001", "z").id(),
        dead_letter_id_of("1795250001.000002", "a").id()
    );
    EXPECT_NE(dead_letter_id_of("1", "a").id(), dead_letter_id_of("1", "b").id());
}

TEST(DeadPlaceTest, scores_that_are_not_times_have_places_too) {
    for (const auto* score : {"-inf", "-5", "0", "inf", "1e300"}) {
        const auto place = dead_letter_id_of(score, "a");
        ASSERT_TRUE(parse_dead_letter_id(place.id())) << score;
        EXPECT_EQ(parse_dead_letter_id(place.id())->micros, place.micros) << score;
    }
    EXPECT_EQ(dead_letter_id_of("-5", "a").least_score(), "-inf");
    EXPECT_EQ(dead_letter_id_of("1e300", "a").most_score(), "+inf");
}

TEST(DeadPlaceTest, a_malformed_id_matches_no_job) {
    for (const auto* id :
         {"",
          "4711",
          "no number",
          "1795250001400001-0123456789abcdef0123456",
          "1795250001400001-0123456789abcdef0123456X",
          "179525000140000x-0123456789abcdef01234567",
          "1795250001400001 0123456789abcdef01234567"})
        EXPECT_FALSE(parse_dead_letter_id(id)) << id;
}

}  // namespace
}  // namespace pawl::queue::sidekiq
