#include "src/page/redact.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace pawl::page {
namespace {

std::string redacted(std::string_view text) {
    return boost::json::serialize(redact(boost::json::parse(text)));
}

TEST(RedactTest, leaves_the_size_of_what_customers_and_providers_said) {
    EXPECT_EQ(
        redacted(R"({"id":1,"params":{"card":"4242"},"response_body":"{}","error":"down"})"),
        R"({"id":1,"params":"redacted, 15 bytes","response_body":"redacted, 2 bytes","error":"down"})"
    );
}

TEST(RedactTest, reaches_every_depth_and_leaves_what_is_empty) {
    EXPECT_EQ(
        redacted(R"([{"entry":{"result":"x","calls_not_made":[]}},{"args":null}])"),
        R"([{"entry":{"result":"redacted, 1 bytes","calls_not_made":[]}},{"args":null}])"
    );
}

}  // namespace
}  // namespace pawl::page
