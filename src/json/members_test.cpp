#include "src/json/members.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::json {
namespace {

TEST(MembersTest, unchanged_members_keep_their_bytes) {
    auto members = members_of(R"( {"a" : 9223372036854775807, "b":1e22,"c":[ 0.10, [],{} ],
        "d":"x\"}]\\", "e" : 123456789012345678901234567890, "\u0066":null} )");

    ASSERT_TRUE(members);
    members->set("new", "true");

    EXPECT_EQ(
        members->text(),
        R"({"a":9223372036854775807,"b":1e22,"c":[ 0.10, [],{} ],"d":"x\"}]\\",)"
        R"("e":123456789012345678901234567890,"\u0066":null,"new":true})"
    );
}

TEST(MembersTest, a_member_is_found_by_its_decoded_name) {
    const auto members = members_of(R"({"\u0061":"1","b":null})");

    ASSERT_TRUE(members);
    EXPECT_EQ(members->find("a"), R"("1")");
    EXPECT_FALSE(members->find("b")) << "null is as if it were not there";
    EXPECT_FALSE(members->find("c"));
}

TEST(MembersTest, of_duplicate_names_the_last_counts_and_one_stays) {
    auto members = members_of(R"({"a":1,"b":2,"a":3})");

    ASSERT_TRUE(members);
    EXPECT_EQ(members->find("a"), "3");
    members->set("a", "4");
    EXPECT_EQ(members->text(), R"({"a":4,"b":2})");
    members->erase("a");
    EXPECT_EQ(members->text(), R"({"b":2})");
}

TEST(MembersTest, only_an_object_has_members) {
    for (const auto* text :
         {"",
          "not json",
          "[]",
          "7",
          R"("a")",
          R"({"a":1)",
          R"({"a":1} x)",
          R"({"a":})",
          "{\"a\":\"\xFF\"}",
          R"({"a":01})",
          R"({a:1})"})
        EXPECT_FALSE(members_of(text)) << text;
    EXPECT_EQ(members_of(" { } ")->text(), "{}");
}

TEST(MembersTest, hostile_depth_is_no_json) {
    EXPECT_TRUE(is_json(std::string(200, '[') + std::string(200, ']')));
    EXPECT_FALSE(is_json(std::string(100'000, '[') + std::string(100'000, ']')));
    EXPECT_TRUE(is_json("[[7]]", 2));
    EXPECT_FALSE(is_json("[[7]]", 1));
}

TEST(ItemsTest, items_are_their_bytes) {
    const std::string list = R"([1, [2,"]"] ,{"a":[]}, "," ])";
    const auto items = items_of(list);

    ASSERT_TRUE(items);
    EXPECT_EQ(*items, (std::vector<std::string_view>{"1", R"([2,"]"])", R"({"a":[]})", R"(",")"}));
    EXPECT_TRUE(items_of("[]")->empty());
    EXPECT_FALSE(items_of("{}"));
    EXPECT_FALSE(items_of("[1"));
}

TEST(StringTest, a_string_is_read_and_written) {
    EXPECT_EQ(string_of(R"("a\u00fc\n")"), "a\xC3\xBC\n");
    EXPECT_EQ(string_of("7"), std::nullopt);
    EXPECT_EQ(string_of("\"open"), std::nullopt);
    EXPECT_EQ(literal_of("a\"\n"), R"("a\"\n")");
}

}  // namespace
}  // namespace pawl::json
