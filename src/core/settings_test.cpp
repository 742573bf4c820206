#include "src/core/settings.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace pawl::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Settings ours{{"lease", "30000 ms"}, {"stripe", "a"}, {"tokens", "digest 1"}};

std::vector<std::string> texts(const std::vector<SettingDifference>& found) {
    std::vector<std::string> lines;
    for (const auto& [name, here, there, servers] : found) {
        auto line = name + ": " + here + " | " + there + " at";
        for (const auto server : servers) line += ' ' + std::to_string(server);
        lines.push_back(line);
    }
    return lines;
}

TEST(SettingsTest, equal_settings_do_not_differ) {
    EXPECT_THAT(compare_settings(ours, {{3, ours}, {4, ours}}), IsEmpty());
    EXPECT_THAT(compare_settings(ours, {}), IsEmpty());
    EXPECT_THAT(compare_settings({}, {{3, ours}}), IsEmpty());
}

TEST(SettingsTest, a_difference_has_its_name_both_values_and_the_servers) {
    const Settings other{{"stripe", "b"}, {"lease", "30000 ms"}, {"tokens", "digest 2"}};

    EXPECT_THAT(
        texts(compare_settings(ours, {{3, other}, {4, ours}, {5, other}})),
        ElementsAre("stripe: a | b at 3 5", "tokens: digest 1 | digest 2 at 3 5")
    );
}

TEST(SettingsTest, two_other_values_are_two_differences) {
    EXPECT_THAT(
        texts(compare_settings(ours, {{3, {{"lease", "1 ms"}}}, {4, {{"lease", "2 ms"}}}})),
        ElementsAre("lease: 30000 ms | 1 ms at 3", "lease: 30000 ms | 2 ms at 4")
    );
}

TEST(SettingsTest, a_name_that_only_one_side_has_is_no_difference) {
    EXPECT_THAT(
        compare_settings(ours, {{3, {{"new_in_the_next_release", "1"}}}, {4, {}}}), IsEmpty()
    );
}

TEST(SettingsTest, a_setting_is_found_by_its_name_and_by_its_value) {
    ASSERT_NE(find_setting(ours, "stripe"), nullptr);
    EXPECT_EQ(*find_setting(ours, "stripe"), "a");
    EXPECT_EQ(find_setting(ours, "a"), nullptr);
    EXPECT_TRUE(has_value(ours, "digest 1"));
    EXPECT_FALSE(has_value(ours, "tokens"));
}

TEST(SettingsTest, a_length_is_read_from_its_text_and_is_0_without_one) {
    EXPECT_EQ(length_of(ours, "lease"), std::chrono::seconds{30});
    EXPECT_EQ(length_of(ours, "stripe").count(), 0);
    EXPECT_EQ(length_of(ours, "of a release before").count(), 0);
}

}  // namespace
}  // namespace pawl::core
