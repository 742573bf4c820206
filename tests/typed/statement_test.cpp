#include <pawl/statement.hpp>

#include <gtest/gtest.h>

namespace pawl::detail {
namespace {

TEST(ParametersIn, is_the_highest_number_outside_of_strings_names_and_comments) {
    struct Case {
        std::string_view text;
        int parameters;
    };
    for (const auto& c : {
             Case{"", 0},
             Case{"SELECT 1", 0},
             Case{"SELECT $1, $2", 2},
             Case{"SELECT $2, $1, $2", 2},
             Case{"SELECT $12", 12},
             Case{"SELECT $1::text", 1},
             Case{"SELECT '$9', $1", 1},
             Case{"SELECT 'it''s $9', $1", 1},
             Case{"SELECT \"$9\", $1", 1},
             Case{"SELECT $1 -- it's $9\n, $2", 2},
             Case{"SELECT /* $9 ' */ $1", 1},
             Case{"SELECT $1 - -1, 4 / $2", 2},
             Case{"SELECT $", 0},
             Case{"SELECT '$1", 0},
             Case{"SELECT $1 --", 1},
         })
        EXPECT_EQ(parameters_in(c.text), c.parameters) << c.text;
}

}  // namespace
}  // namespace pawl::detail
