#include "src/base/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::base {
namespace {

TEST(IsUtf8, takes_the_first_and_the_last_character_of_each_length) {
    for (const std::string text :
         {"",
          "\x7F",
          "\xC2\x80",
          "\xDF\xBF",
          "\xE0\xA0\x80",
          "\xED\x9F\xBF",
          "\xEE\x80\x80",
          "\xEF\xBF\xBF",
          "\xF0\x90\x80\x80",
          "\xF4\x8F\xBF\xBF"})
        EXPECT_TRUE(is_utf8(text)) << text;
}

TEST(IsUtf8, refuses_bytes_that_are_no_unicode_character) {
    for (const std::string text :
         {"\x80",              // A continuation byte alone.
          "\xC3",              // Truncated.
          "\xC3.",             //
          "\xE2\x82",          //
          "\xC1\xBF",          // Overlong, of two, three and four bytes.
          "\xE0\x9F\xBF",      //
          "\xF0\x8F\xBF\xBF",  //
          "\xED\xA0\x80",      // A surrogate.
          "\xF4\x90\x80\x80",  // Beyond U+10FFFF.
          "\xF5\x80\x80\x80"})
        EXPECT_FALSE(is_utf8(text)) << text;
}

TEST(Excerpt, has_at_most_forty_bytes_and_no_half_character) {
    EXPECT_EQ(excerpt(std::string(40, 'a')), std::string(40, 'a'));
    EXPECT_EQ(excerpt(std::string(41, 'a')), std::string(37, 'a') + "...");
    EXPECT_EQ(excerpt(std::string(36, 'a') + "\xC3\xBC and more"), std::string(36, 'a') + "...");
}

}  // namespace
}  // namespace pawl::base
