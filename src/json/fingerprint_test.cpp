#include "src/json/fingerprint.hpp"

#include <pawl/detail/json_request.hpp>

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace pawl::json {

namespace {

const std::vector<Pair> ride_7 = {{"ride", "7"}};

FingerprintInput request() {
    return {
        .method = "POST",
        .route = "/rides/{ride}/tips",
        .path_parameters = ride_7,
        .query = "a=1&b=2",
        .content_type = "application/json",
        .body = R"({"cents":200,"note":"x"})"};
}

std::string of(const FingerprintInput& input, std::string_view secret = "secret") {
    auto made = fingerprint(secret, input);
    if (auto* problem = std::get_if<DecodeProblem>(&made))
        return problem->field + ": " + problem->why;
    return hex(std::get<Digest>(made));
}

FingerprintInput with_body(std::string_view content_type, std::string_view body) {
    auto input = request();
    input.content_type = content_type;
    input.body = body;
    return input;
}

FingerprintInput with_query(std::string_view query) {
    auto input = request();
    input.query = query;
    return input;
}

}  // namespace

// Stored in rows: a change needs a new fingerprint_version.
TEST(Fingerprint, keeps_its_value) {
    EXPECT_EQ(of(request()), "688fbd6ff916fb6ac2ca85a4ffc429daeb931516472ecea3b4eae28168c2b8bb");
}

// The server gives the canonical form of the body that it has parsed.
TEST(Fingerprint, is_the_same_of_a_body_that_was_parsed_before) {
    auto input = request();
    input.body = "{ \"note\" : \"x\", \"cents\" : 2e2 }";
    detail::RequestFields fields;
    ASSERT_FALSE(fields.add_json(input.body));
    const auto canonical = fields.canonical_json();
    input.canonical_json = canonical;

    EXPECT_EQ(of(input), of(request()));
    input.body = "not read";
    EXPECT_EQ(of(input), of(request()));
}

TEST(Fingerprint, spelling_makes_no_difference) {
    const auto expected = of(request());
    const auto form = of(with_body("application/x-www-form-urlencoded", "a=b+c&b=1"));

    EXPECT_EQ(
        of(with_body(
            "Application/JSON ; charset=utf-8", "{ \"note\" : \"\\u0078\", \"cents\" : 2e2 }\n"
        )),
        expected
    );
    EXPECT_EQ(of(with_query("b=2&a=%31")), expected);
    EXPECT_EQ(
        of(with_body("application/x-www-form-urlencoded;charset=UTF-8", "b=1&a=b%20c")), form
    );
}

TEST(Fingerprint, requests_with_another_meaning_differ) {
    const std::vector<Pair> ride_8 = {{"ride", "8"}};
    const std::vector<Pair> rode_7 = {{"rode", "7"}};
    std::vector<FingerprintInput> inputs(6, request());
    inputs[1].method = "PUT";
    inputs[2].route = "/rides/{ride}/tip";
    inputs[3].path_parameters = ride_8;
    inputs[4].path_parameters = rode_7;
    inputs[5].path_parameters = {};
    for (auto* query : {"", "a=1", "a=1&b=3", "a=1&b=2&b=2", "a=2&b=1"})
        inputs.push_back(with_query(query));
    for (auto* body :
         {R"({"cents":201,"note":"x"})",
          R"({"cents":"200","note":"x"})",
          R"({"cents":200})",
          "{}",
          "[]",
          R"({"cents":200,"note":null})",
          ""})
        inputs.push_back(with_body("application/json", body));
    inputs.push_back(with_body("application/vnd.ride+json", request().body));
    inputs.push_back(with_body("text/plain", request().body));
    inputs.push_back(with_body("text/plain", R"({"note":"x","cents":200})"));
    inputs.push_back(with_body("", request().body));

    std::set<std::string> seen;
    for (const auto& input : inputs) seen.insert(of(input));

    EXPECT_EQ(seen.size(), inputs.size());
}

TEST(Fingerprint, ids_beyond_2_to_53_stay_apart) {
    EXPECT_NE(
        of(with_body("application/json", R"({"id":9007199254740993})")),
        of(with_body("application/json", R"({"id":9007199254740992})"))
    );
}

TEST(Fingerprint, depends_on_the_secret) {
    EXPECT_NE(of(request(), "other"), of(request()));
}

TEST(Fingerprint, a_malformed_query_or_body_is_a_problem) {
    EXPECT_EQ(of(with_query("a=%")), "a: Has a broken % escape.");
    EXPECT_EQ(
        of(with_body("application/json", R"({"a":1,"a":2})")),
        "a: This name appears twice in one object."
    );
    EXPECT_EQ(of(with_body("application/x-www-form-urlencoded", "=")), ": A field without a name.");
    EXPECT_EQ(of(with_body("text/plain", "\xFF=")).size(), 64U);
}

TEST(BodyKind, body_kind_follows_the_media_type) {
    EXPECT_EQ(media_type(" Application/JSON\t; charset=utf-8"), "application/json");
    EXPECT_EQ(media_type(""), "");
    EXPECT_EQ(body_kind("application/json; charset=utf-8", "{"), BodyKind::json);
    EXPECT_EQ(body_kind("application/merge-patch+json", "{"), BodyKind::json);
    EXPECT_EQ(body_kind("application/x-www-form-urlencoded", "a"), BodyKind::form);
    EXPECT_EQ(body_kind("application/jsonl", "{"), BodyKind::other);
    EXPECT_EQ(body_kind("", "{"), BodyKind::other);
    EXPECT_EQ(body_kind("application/json", ""), BodyKind::none);
}

// Providers remember it for days: never change it.
TEST(CallKey, keeps_its_value) {
    const CallKeyInput input{
        .installation = "ins_1",
        .tenant = "default",
        .account = "acct_7",
        .client_key = "8e03978e-40d5-43e8-bc93-6894a57f9324",
        .point = "ride_created",
        .generation = 0};

    EXPECT_EQ(call_key(input), "ee318dea90348d57893ed99b76b3ba5b388ea048310dd3c556ca7f222dbc2061");
}

TEST(CallKey, each_part_counts_and_borders_between_parts_do_too) {
    std::set<std::string> keys = {
        call_key(
            {.installation = "i",
             .tenant = "t",
             .account = "a",
             .client_key = "k",
             .point = "p",
             .generation = 0}
        ),
        call_key(
            {.installation = "j",
             .tenant = "t",
             .account = "a",
             .client_key = "k",
             .point = "p",
             .generation = 0}
        ),
        call_key(
            {.installation = "i",
             .tenant = "u",
             .account = "a",
             .client_key = "k",
             .point = "p",
             .generation = 0}
        ),
        call_key(
            {.installation = "i",
             .tenant = "t",
             .account = "b",
             .client_key = "k",
             .point = "p",
             .generation = 0}
        ),
        call_key(
            {.installation = "i",
             .tenant = "t",
             .account = "a",
             .client_key = "l",
             .point = "p",
             .generation = 0}
        ),
        call_key(
            {.installation = "i",
             .tenant = "t",
             .account = "a",
             .client_key = "k",
             .point = "q",
             .generation = 0}
        ),
        call_key(
            {.installation = "i",
             .tenant = "t",
             .account = "a",
             .client_key = "k",
             .point = "p",
             .generation = 1}
        ),
        call_key(
            {.installation = "it",
             .tenant = "",
             .account = "a",
             .client_key = "k",
             .point = "p",
             .generation = 0}
        ),
        call_key(
            {.installation = "i",
             .tenant = "ta",
             .account = "",
             .client_key = "k",
             .point = "p",
             .generation = 0}
        ),
    };

    EXPECT_EQ(keys.size(), 9U);
}

}  // namespace pawl::json
