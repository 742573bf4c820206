#include "src/queue/kafka/record.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace pawl::queue::kafka {

namespace {

std::string bytes(std::initializer_list<int> list) {
    std::string text;
    for (const int byte : list) text += static_cast<char>(byte);
    return text;
}

}  // namespace

TEST(Record, the_last_header_of_a_name_is_the_one_that_counts) {
    const Headers headers{{"a", "1"}, {"b", "2"}, {"a", "3"}, {"c", std::nullopt}};

    EXPECT_EQ(find(headers, "a"), "3");
    EXPECT_EQ(find(headers, "b"), "2");
    EXPECT_FALSE(find(headers, "c"));
    EXPECT_FALSE(find(headers, "d"));
}

TEST(Record, missing_key_and_value_have_no_size) {
    Record record;
    const auto bare = size_of(record);
    record.key = "k";
    record.value = std::string(5, 'v');
    record.headers.push_back({"name", "word"});
    record.headers.push_back({"null", std::nullopt});

    EXPECT_EQ(size_of(record), bare + 1 + 5 + (10 + 4 + 4) + (10 + 4));
}

TEST(Record, setting_a_header_replaces_all_of_its_name) {
    Headers headers{{"a", "1"}, {"b", "2"}, {"a", "3"}};

    set(headers, "a", "4");

    EXPECT_EQ(headers, (Headers{{"b", "2"}, {"a", "4"}}));
}

TEST(Record, numbers_are_written_as_java_writes_them) {
    EXPECT_EQ(int32_bytes(258), bytes({0, 0, 1, 2}));
    EXPECT_EQ(int32_bytes(-1), bytes({255, 255, 255, 255}));
    EXPECT_EQ(int64_bytes(258), bytes({0, 0, 0, 0, 0, 0, 1, 2}));
    EXPECT_EQ(big_integer_bytes(0), bytes({0}));
    EXPECT_EQ(big_integer_bytes(127), bytes({127}));
    EXPECT_EQ(big_integer_bytes(128), bytes({0, 128}));
    EXPECT_EQ(big_integer_bytes(-128), bytes({128}));
    EXPECT_EQ(big_integer_bytes(-129), bytes({255, 127}));
    EXPECT_EQ(big_integer_bytes(1'800'000'000'000), bytes({1, 163, 24, 92, 80, 0}));
}

TEST(Record, numbers_of_every_width_are_read) {
    for (const std::int64_t number :
         {std::int64_t{0},
          std::int64_t{-1},
          std::int64_t{255},
          std::int64_t{256},
          std::int64_t{1'800'000'000'000},
          std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min()}) {
        EXPECT_EQ(integer_of(big_integer_bytes(number)), number);
        EXPECT_EQ(integer_of(int64_bytes(number)), number);
    }
    EXPECT_EQ(integer_of(int32_bytes(-7)), -7);
    EXPECT_FALSE(integer_of(""));
    EXPECT_FALSE(integer_of("nine byte"));
}

TEST(Record, a_number_must_be_digits_only) {
    EXPECT_EQ(number_of("42"), 42);
    for (const auto* text : {"", "4x", " 4", "99999999999999999999"}) EXPECT_FALSE(number_of(text));
}

}  // namespace pawl::queue::kafka
