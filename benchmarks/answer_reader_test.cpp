#include "benchmarks/answer_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::bench {
namespace {

const std::string replay =
    "HTTP/1.1 201 Created\r\nIdempotent-Replayed: true\r\nContent-Length: 2\r\n\r\n{}";

TEST(ReadAnswer, waits_until_the_last_byte_is_there) {
    for (std::size_t size = 0; size < replay.size(); ++size)
        EXPECT_FALSE(read_answer(std::string_view{replay}.substr(0, size))) << size;

    EXPECT_TRUE(read_answer(replay));
}

TEST(ReadAnswer, distinguishes_a_replay_from_a_first_answer) {
    const auto first = read_answer("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");

    ASSERT_TRUE(first);
    EXPECT_EQ(first->status, 201);
    EXPECT_FALSE(first->replayed);
    EXPECT_TRUE(read_answer(replay)->replayed);
}

TEST(ReadAnswer, does_not_read_the_bytes_after_the_answer) {
    const auto bytes = replay + "HTTP/1.1 500";
    const auto seen = read_answer(bytes);

    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->size, replay.size());
    EXPECT_EQ(seen->body, "{}");
}

TEST(ReadAnswer, refuses_bytes_that_are_not_an_answer_with_a_length) {
    for (const auto* bytes :
         {"ftp 220\r\n\r\n",
          "HTTP/1.1 200 OK\r\n\r\n",
          "HTTP/1.1 abc\r\nContent-Length: 1\r\n\r\nx",
          "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"}) {
        const auto seen = read_answer(bytes);

        ASSERT_TRUE(seen) << bytes;
        EXPECT_EQ(seen->status, -1) << bytes;
    }
}

}  // namespace
}  // namespace pawl::bench
