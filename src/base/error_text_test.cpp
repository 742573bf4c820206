#include "src/base/error_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace pawl::base {

TEST(ErrorKindTest, errors_that_differ_only_in_numbers_and_quotes_are_of_one_kind) {
    EXPECT_EQ(error_kind("ride 17 is not there"), error_kind("ride 4711 is not there"));
    EXPECT_EQ(error_kind("mail to 'ann@example.com' bounced"), error_kind("mail to \"x\" bounced"));
    EXPECT_EQ(
        error_kind("card 4242-4242 of cus_9f3a: declined"),
        error_kind("card 1-2 of cus_77: declined")
    );
}

TEST(ErrorKindTest, a_status_is_part_of_the_kind) {
    EXPECT_EQ(error_kind("SMTP 550: no such mailbox"), "SMTP 550: no such mailbox");
    EXPECT_NE(error_kind("HTTP 404"), error_kind("HTTP 503"));
    EXPECT_EQ(error_kind("HTTP 604"), "HTTP #");
    EXPECT_EQ(error_kind("HTTP 099"), "HTTP #");
}

TEST(ErrorKindTest, an_apostrophe_quotes_nothing) {
    EXPECT_EQ(
        error_kind("can't reach the mail server, won't try"),
        "can't reach the mail server, won't try"
    );
    EXPECT_EQ(error_kind("an open 'quote"), "an open 'quote");
}

TEST(ErrorKindTest, a_quoted_text_may_come_first) {
    EXPECT_EQ(error_kind("'rides' is no table"), "\"?\" is no table");
}

TEST(ErrorKindTest, only_the_first_line_counts_and_no_more_than_120_bytes) {
    EXPECT_EQ(error_kind("timeout\nat line 7"), "timeout");
    EXPECT_EQ(error_kind(std::string(1'000, 'a')).size(), 120);
    EXPECT_EQ(error_kind(""), "");
}

TEST(ErrorKindTest, no_character_is_cut_in_two) {
    std::string text(119, 'a');
    text += "\xC3\xBC and more";

    EXPECT_EQ(error_kind(text), std::string(119, 'a'));
    EXPECT_EQ(error_kind(std::string(200, '\x80')), "") << "of no character is there a part";
}

TEST(StorableErrorTest, utf_8_stays_as_it_is) {
    const std::string text{"gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x9A\x97\n\ttab"};
    EXPECT_EQ(sanitized_error(text), text);
}

TEST(StorableErrorTest, bytes_that_are_not_utf_8_become_question_marks) {
    using namespace std::string_literals;
    EXPECT_EQ(sanitized_error("a\0b"s), "a?b");
    EXPECT_EQ(sanitized_error("\xFF\xFE."), "??.");
    EXPECT_EQ(sanitized_error("\xC3"), "?");                 // Cut off.
    EXPECT_EQ(sanitized_error("\xC0\xAF"), "??");            // Overlong.
    EXPECT_EQ(sanitized_error("\xED\xA0\x80"), "???");       // A surrogate.
    EXPECT_EQ(sanitized_error("\xF4\x90\x80\x80"), "????");  // Beyond Unicode.
}

TEST(StorableErrorTest, valid_characters_at_the_limits_of_each_length_stay) {
    for (const std::string text :
         {"\xC2\x80",
          "\xDF\xBF",
          "\xE0\xA0\x80",
          "\xED\x9F\xBF",
          "\xEE\x80\x80",
          "\xEF\xBF\xBF",
          "\xF0\x90\x80\x80",
          "\xF4\x8F\xBF\xBF"})
        EXPECT_EQ(sanitized_error(text), text);
}

TEST(StorableErrorTest, each_byte_of_a_broken_character_is_a_question_mark) {
    for (const std::string text :
         {"\xE0\x9F\xBF",
          "\xE2.",
          "\xE2\x82",
          "\xE2\x82.",
          "\xF0\x8F\xBF\xBF",
          "\xF1.",
          "\xF1\x80.",
          "\xF1\x80\x80",
          "\xF5\x80\x80\x80"}) {
        const auto dots = std::count(text.begin(), text.end(), '.');
        const auto broken = text.size() - static_cast<std::size_t>(dots);

        EXPECT_EQ(
            sanitized_error(text),
            std::string(broken, '?') + std::string(static_cast<std::size_t>(dots), '.')
        );
    }
}

TEST(StorableErrorTest, a_long_error_is_cut_off) {
    EXPECT_EQ(sanitized_error(std::string(10'000, 'a')).size(), 2'000);
    EXPECT_EQ(sanitized_error(std::string(10'000, '\xFF')).size(), 2'000);
}

// Issue 16, number 15.
TEST(WithEarlierCall, names_the_earlier_call_first_and_once) {
    const TimePoint called_at{std::chrono::seconds{1'800'000'000}};
    const std::string both =
        "an earlier call may have been made at 2027-01-15T08:00:00.000Z; this try did nothing";

    EXPECT_EQ(with_earlier_call("this try did nothing", called_at), both);
    EXPECT_EQ(with_earlier_call(both, called_at), both);
    EXPECT_EQ(with_earlier_call("this try did nothing", std::nullopt), "this try did nothing");
}

}  // namespace pawl::base
