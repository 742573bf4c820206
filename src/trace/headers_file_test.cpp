#include "src/trace/headers_file.hpp"

#include <pawl/traces.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>

namespace pawl::trace {
namespace {

std::string file_of(const std::string& text) {
    const auto name = ::testing::TempDir() + "pawl_headers_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ofstream{name} << text;
    return name;
}

TEST(HeadersFile, has_a_header_in_each_line) {
    const auto headers =
        read_headers(file_of("# of the collector\nAuthorization: Bearer a:b c\r\n\nX-Org:7\n"));

    ASSERT_EQ(headers.size(), 2U);
    EXPECT_EQ(headers[0].name, "Authorization");
    EXPECT_EQ(headers[0].value, "Bearer a:b c");
    EXPECT_EQ(headers[1].name, "X-Org");
    EXPECT_EQ(headers[1].value, "7");
    EXPECT_TRUE(read_headers("").empty());
}

TEST(HeadersFile, a_wrong_line_is_named_and_not_shown) {
    for (const auto* text :
         {"X: 1\ns3cret",
          "X: 1\n: s3cret",
          "X: 1\ns3cret:",
          "X: 1\nA s3cret: 1",
          "X: 1\ns3cret: \x01"}) {
        try {
            (void)read_headers(file_of(text));
            ADD_FAILURE() << text;
        } catch (const std::invalid_argument& wrong) {
            const std::string why{wrong.what()};
            EXPECT_NE(why.find("line 2 of "), why.npos) << why;
            EXPECT_EQ(why.find("s3cret"), why.npos) << why;
        }
    }
    EXPECT_THROW((void)read_headers("/nowhere/headers"), std::invalid_argument);
}

TEST(TraceOptions, a_problem_names_the_option_and_not_the_url) {
    EXPECT_FALSE(TraceOptions{}.problem());
    EXPECT_FALSE((TraceOptions{.otlp_url = "http://127.0.0.1:4318"}.problem()));
    const auto wrong = TraceOptions{.otlp_url = "grpc://user:s3cret@host"}.problem().value_or("");
    EXPECT_TRUE(wrong.starts_with("otlp_url is")) << wrong;
    EXPECT_EQ(wrong.find("s3cret"), wrong.npos) << wrong;
    EXPECT_TRUE((TraceOptions{.ratio = 1.5}.problem()));
    EXPECT_TRUE((TraceOptions{.ratio = -0.1}.problem()));
    EXPECT_TRUE((TraceOptions{.waiting_max = 0}.problem()));
    EXPECT_TRUE((TraceOptions{.timeout = std::chrono::milliseconds{0}}.problem()));
    EXPECT_TRUE((TraceOptions{.stop_limit = std::chrono::hours{1}}.problem()));
}

}  // namespace
}  // namespace pawl::trace
