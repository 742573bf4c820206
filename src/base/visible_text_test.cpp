#include "src/base/visible_text.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace pawl::base {
namespace {

struct Case {
    std::string name;
    std::string text;
    std::string expected;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"nothing", "", ""},
        {"ASCII, tabs and ends of lines", "a\tb\nc\r\nd", "a\tb\nc\r\nd"},
        {"other letters", "\u00e4\u05d0\u3042\U0001F600", "\u00e4\u05d0\u3042\U0001F600"},
        {"a sequence of a terminal", "\x1b[2Jx\x07", "\\u001b[2Jx\\u0007"},
        {"a CR that writes over the line", "paid\rnot ", "paid\\u000dnot "},
        {"a CR at the end", "a\r", "a\\u000d"},
        {"NUL and DEL", std::string{"\0\x7f", 2}, "\\u0000\\u007f"},
        {"C1", "\u0080\u009b31m\u009f\u00a0", "\\u0080\\u009b31m\\u009f\u00a0"},
        {"directions",
         "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
         "\\u202a\\u202b\\u202c\\u202d\\u202e\\u2066\\u2067\\u2068\\u2069\\u200e\\u200f\\u061c"},
        {"line separators", "\u2028\u2029", "\\u2028\\u2029"},
        {"their neighbours",
         "\u2027\u202f\u2065\u206a\u200d\u2010\u061b",
         "\u2027\u202f\u2065\u206a\u200d\u2010\u061b"},
        {"C1 as bytes",
         "\x9b"
         "2J\x80",
         "\ufffd"
         "2J\ufffd"},
        {"half a character", "\xe2\x80", "\ufffd\ufffd"},
        {"an overlong ESC", "\xc0\x9b", "\ufffd\ufffd"}};
    return all;
}

TEST(VisibleText, shows_what_a_terminal_would_obey) {
    for (const auto& c : cases()) EXPECT_EQ(visible_text(c.text), c.expected) << c.name;
}

TEST(VisibleOutput, gives_the_same_however_the_text_comes_in_pieces) {
    for (const auto& c : cases())
        for (std::size_t piece = 1; piece <= c.text.size(); ++piece) {
            std::ostringstream all;
            {
                VisibleOutput buffer{*all.rdbuf()};
                std::ostream out{&buffer};
                for (std::size_t at = 0; at < c.text.size(); at += piece) {
                    const auto part = c.text.substr(at, piece);
                    part.size() == 1 ? out.put(part[0]) : out << part;
                }
            }
            EXPECT_EQ(all.str(), c.expected) << c.name << " in pieces of " << piece;
        }
}

}  // namespace
}  // namespace pawl::base
