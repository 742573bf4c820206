#include "apps/rides/pages/sent_forms.hpp"

#include <gtest/gtest.h>

namespace rides {
namespace {

TEST(SentForms, remembers_a_key_for_a_while) {
    SentForms sent;
    const SentForms::SteadyTime began{std::chrono::hours{1}};
    sent.add("a", began);

    EXPECT_TRUE(sent.has("a", began + SentForms::remembered_for / 2));
    EXPECT_FALSE(sent.has("b", began));
    EXPECT_FALSE(sent.has("a", began + SentForms::remembered_for));
}

TEST(SentForms, forgets_the_oldest_of_too_many) {
    SentForms sent;
    const SentForms::SteadyTime began{std::chrono::hours{1}};
    for (std::size_t i = 0; i <= SentForms::remembered_max; ++i) sent.add(std::to_string(i), began);

    EXPECT_FALSE(sent.has("0", began));
    EXPECT_TRUE(sent.has("1", began));
}

}  // namespace
}  // namespace rides
