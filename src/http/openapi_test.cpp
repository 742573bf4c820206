#include "src/http/openapi.hpp"

#include <pawl/decimal.hpp>
#include <pawl/from_header.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// tests/integration/openapi_cases.py has the document of Rocket Rides checked by a validator.
namespace pawl::http {
namespace {

enum class Speed { slow, fast };
struct Id {
    std::int64_t value{};
};
struct Card {
    static constexpr std::string_view tag = "card";
    std::string last4;
};
struct Cash {
    static constexpr std::string_view tag = "cash";
};
struct Request {
    Id id{};
    Speed speed{};
    std::optional<std::int8_t> seats{};
    std::vector<std::string> stops{};
    TimePoint at{};
    std::chrono::seconds wait{};
    Decimal<2> price{};
    std::map<std::string, bool> flags{};
    std::variant<Card, Cash> paid_by{};
    FromHeader<"traceparent"> trace{};
};

class OpenApiTest : public ::testing::Test {
protected:
    static DescribedRoute route(std::string_view method, KeyRule key) {
        return {method, "/rides/{id}", "ride", key, detail::request_schema<Request>()};
    }
    // The text of the document at a JSON pointer.
    static std::string at(
        const DescribedRoute& route, std::string_view pointer, bool anonymous = false
    ) {
        const auto document = boost::json::parse(openapi({"Rides", "1", anonymous, 422}, {route}));
        boost::system::error_code error;
        const auto* found = document.find_pointer(pointer, error);
        return found == nullptr ? "nothing" : boost::json::serialize(*found);
    }
    static constexpr std::string_view post = "/paths/~1rides~1{id}/post";
    static std::string in_post(std::string_view rest) {
        return std::string{post} + std::string{rest};
    }
    const std::string property =
        in_post("/requestBody/content/application~1json/schema/properties");
};

TEST_F(OpenApiTest, each_type_has_its_schema) {
    const auto ride = route("POST", KeyRule::required);
    const auto schema = [&](const std::string& name) { return at(ride, property + "/" + name); };

    EXPECT_EQ(schema("speed"), R"({"type":"string","enum":["slow","fast"]})");
    EXPECT_EQ(schema("seats"), R"({"type":"integer","minimum":-128,"maximum":127})");
    EXPECT_EQ(schema("stops"), R"({"type":"array","items":{"type":"string"}})");
    EXPECT_EQ(schema("at"), R"({"type":"string","format":"date-time"})");
    EXPECT_EQ(schema("wait").substr(0, 17), R"({"type":"integer")");
    EXPECT_EQ(
        schema("price"), R"({"type":"string","pattern":"^-?(0|[1-9][0-9]*)(\\.[0-9]{1,2})?$"})"
    );
    EXPECT_EQ(schema("flags"), R"({"type":"object","additionalProperties":{"type":"boolean"}})");
    EXPECT_EQ(
        schema("paid_by/oneOf/0"),
        R"({"type":"object","properties":{"type":{"const":"card"},"last4":{"type":"string"}},)"
        R"("required":["type","last4"],"additionalProperties":false})"
    );
    EXPECT_EQ(schema("id"), "nothing");
    EXPECT_EQ(schema("trace"), "nothing");
}

TEST_F(OpenApiTest, a_field_comes_from_the_path_a_header_the_body_or_the_query) {
    const auto ride = route("POST", KeyRule::required);
    EXPECT_EQ(at(ride, in_post("/parameters/0/in")), R"("path")");
    EXPECT_EQ(at(ride, in_post("/parameters/0/name")), R"("id")");
    EXPECT_EQ(at(ride, in_post("/parameters/1/name")), R"("traceparent")");
    EXPECT_EQ(at(ride, in_post("/parameters/1/required")), "false");
    EXPECT_EQ(
        at(ride, in_post("/requestBody/content/application~1json/schema/required")),
        R"(["speed","stops","at","wait","price","flags","paid_by"])"
    );
    const auto query = route("GET", KeyRule::none);
    EXPECT_EQ(at(query, "/paths/~1rides~1{id}/get/requestBody"), "nothing");
    EXPECT_EQ(at(query, "/paths/~1rides~1{id}/get/parameters/1/in"), R"("query")");
}

TEST_F(OpenApiTest, the_key_is_a_header_as_the_operation_says) {
    const auto last = in_post("/parameters/2");
    EXPECT_EQ(at(route("POST", KeyRule::required), last + "/name"), R"("Idempotency-Key")");
    EXPECT_EQ(at(route("POST", KeyRule::required), last + "/required"), "true");
    EXPECT_EQ(at(route("POST", KeyRule::optional), last + "/required"), "false");
    EXPECT_EQ(at(route("POST", KeyRule::none), last), "nothing");
}

TEST_F(OpenApiTest, problems_are_those_that_the_route_can_have) {
    const auto keyed = route("POST", KeyRule::required);
    EXPECT_EQ(at(keyed, in_post("/responses/409/description")), R"("in-progress")");
    EXPECT_EQ(at(keyed, in_post("/responses/422/description")), R"("key-reused, given-up")");
    EXPECT_NE(at(keyed, in_post("/responses/503/headers/Retry-After")), "nothing");
    EXPECT_EQ(at(route("POST", KeyRule::none), in_post("/responses/409")), "nothing");
    EXPECT_NE(at(keyed, in_post("/responses/401")), "nothing");
    EXPECT_EQ(at(keyed, in_post("/responses/401"), true), "nothing");
    EXPECT_EQ(at(keyed, "/security", true), "nothing");
}

// Schemathesis found that an operation's own 404 has no `type` (issue 19).
TEST_F(OpenApiTest, a_problem_of_an_operation_needs_no_type) {
    EXPECT_EQ(
        at(route("POST", KeyRule::required), "/components/schemas/Problem/required"),
        R"(["title","status"])"
    );
}

}  // namespace
}  // namespace pawl::http
