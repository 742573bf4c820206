#include <pawl/decimal.hpp>
#include <pawl/from_header.hpp>
#include <pawl/json.hpp>

#include "src/base/time_text.hpp"
#include "src/json/decimal.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

// Times, durations, amounts, maps, variants, and what a provider's answer has beside (issue 19).
namespace pawl::detail {
namespace {

using namespace std::chrono_literals;

struct Card {
    static constexpr std::string_view tag = "card";
    std::string last4;
    bool operator==(const Card&) const = default;
};
struct Bank {
    static constexpr std::string_view tag = "bank";
    std::string iban;
    std::optional<std::string> bic{};
    bool operator==(const Bank&) const = default;
};
struct Payment {
    TimePoint made_at{};
    std::chrono::seconds valid{};
    Decimal<2> amount{};
    std::map<std::string, std::string> metadata{};
    std::variant<Card, Bank> source{};
    std::vector<std::variant<Card, Bank>> others{};
    bool operator==(const Payment&) const = default;
};

const Payment example{
    TimePoint{1'795'235'400'123ms},
    90s,
    {-1234},
    {{"order", "7"}, {"a \"b\"", ""}},
    Bank{"DE1", "BIC"},
    {Card{"4242"}, Bank{"DE2"}}};
constexpr std::string_view example_text =
    R"({"made_at":"2026-11-21T04:30:00.123Z","valid":90,"amount":"-12.34",)"
    R"("metadata":{"a \"b\"":"","order":"7"},"source":{"type":"bank","iban":"DE1","bic":"BIC"},)"
    R"("others":[{"type":"card","last4":"4242"},{"type":"bank","iban":"DE2"}]})";

TEST(JsonTypes, are_written_and_read) {
    EXPECT_EQ(encode(example), example_text);
    EXPECT_EQ(std::get<Payment>(decode<Payment>(example_text)), example);
}

std::string problem(std::string_view member, std::string_view value) {
    auto text = std::string{example_text};
    const auto at = text.find("\"" + std::string{member} + "\":");
    const auto from = text.find(':', at) + 1;
    std::size_t to = from;
    for (int depth = 0; depth > 0 || (text[to] != ',' && text[to] != '}'); ++to)
        depth += text[to] == '{' || text[to] == '['   ? 1
                 : text[to] == '}' || text[to] == ']' ? -1
                                                      : 0;
    text.replace(from, to - from, value);
    auto decoded = decode<Payment>(text);
    const auto* why = std::get_if<DecodeProblem>(&decoded);
    return why == nullptr ? "none" : why->field + ": " + why->why;
}

TEST(JsonTypes, wrong_values_are_refused_with_their_field) {
    struct Case {
        std::string_view member, value, problem;
    };
    const std::string_view time = "made_at: Must be a time such as";
    const std::string_view amount = "amount: Must be an amount as text, with at most 2 decimals.";
    for (const auto& c : std::vector<Case>{
             {"made_at", "\"2026-11-21\"", time},
             {"made_at", "1795235400", "made_at: Must be a string."},
             {"valid", "1.5", "valid: "},
             {"valid", "\"90\"", "valid: Must be a number."},
             {"amount", "12.34", "amount: Must be a string."},
             {"amount", "\"12.345\"", amount},
             {"metadata", "{\"a\":1}", "metadata.a: Must be a string."},
             {"metadata", "[]", "metadata: Must be an object."},
             {"source", "{\"type\":\"cash\"}", "source.type: Must be one of: card, bank."},
             {"source", "{\"type\":7}", "source.type: Must be one of: card, bank."},
             {"source", "{\"last4\":\"1\"}", "source.type: This field is missing."},
             {"source", "{\"type\":\"card\"}", "source.last4: This field is missing."},
             {"source",
              "{\"type\":\"card\",\"last4\":\"1\",\"iban\":\"x\"}",
              "source.iban: This field is not known."},
             {"others", "[{\"type\":\"bank\"}]", "others[0].iban: This field is missing."}})
        EXPECT_EQ(problem(c.member, c.value).substr(0, c.problem.size()), c.problem)
            << c.member << " " << c.value;
}

struct Charge {
    std::string id;
    std::optional<Card> card{};
};

TEST(JsonTypes, a_lenient_reader_ignores_what_it_does_not_know) {
    constexpr std::string_view answer =
        R"({"id":"ch_1","object":"charge","card":{"last4":"1","brand":"x"},"refunds":[{}]})";

    EXPECT_FALSE(from_json<Charge>(answer));
    const auto charge = from_json<Charge>(answer, Unknown::ignored);
    ASSERT_TRUE(charge);
    EXPECT_EQ(charge->id, "ch_1");
    EXPECT_EQ(charge->card->last4, "1");
    EXPECT_FALSE(from_json<Charge>(R"({"object":"charge"})", Unknown::ignored));
}

struct Measured {
    std::string id;
    std::optional<double> score{};
};

// The limits of our numbers, names and levels were applied to members that nobody reads.
TEST(JsonTypes, a_lenient_reader_limits_only_what_it_reads) {
    const std::string deep = std::string(900, '[') + std::string(900, ']');
    for (const std::string& other :
         {std::string{R"("n":123456789012345678901234567890)"},
          std::string{R"("n":0.12345678901234567)"},
          std::string{R"("n":1e400)"},
          std::string{R"("m":{"k":"v","k":"w"})"},
          std::string{R"("k":1,"k":2,"k":3)"},
          std::string{R"("cut":"\ud83d","cut too":"\udC00\ud83d\n")"},
          "\"deep\":" + deep}) {
        const auto read = from_json<Measured>("{" + other + R"(,"id":"a"})", Unknown::ignored);
        EXPECT_TRUE(read && read->id == "a") << other.substr(0, 60);
    }
    for (const auto* read :
         {R"({"id":"a","id":"a"})",
          R"({"id":"a","score":1e400})",
          R"({"id":"a","score":0.12345678901234567890123})",
          R"({"id":"a","score":1,"score":1})"})
        EXPECT_FALSE(from_json<Measured>(read, Unknown::ignored)) << read;
    std::string many = R"({"id":"a")";
    for (int i = 0; i < 30; ++i) many += ",\"n" + std::to_string(i % 20) + "\":1";
    EXPECT_TRUE(from_json<Measured>(many + "}", Unknown::ignored));
    EXPECT_FALSE(from_json<Measured>(many + R"(,"id":"b"})", Unknown::ignored));
    const auto cut = from_json<Measured>(R"({"id":"\ud83d\ude00 \ud83d"})", Unknown::ignored);
    EXPECT_EQ(cut->id, "\xf0\x9f\x98\x80 \xef\xbf\xbd");
}

TEST(JsonTypes, times_of_rfc_3339_are_read_in_each_form) {
    const auto at = [](std::string_view text) { return base::time_from_rfc3339(text); };
    const TimePoint noon{1'795'262'400'000ms};
    ASSERT_EQ(base::time_text(noon), "2026-11-21T12:00:00.000Z");
    EXPECT_EQ(at("2026-11-21T12:00:00Z"), noon);
    EXPECT_EQ(at("2026-11-21t12:00:00z"), noon);
    EXPECT_EQ(at("2026-11-21T12:00:00.5Z"), noon + 500ms);
    EXPECT_EQ(at("2026-11-21T12:00:00.123000000Z"), noon + 123ms);
    EXPECT_EQ(at("2026-11-21T13:30:00+01:30"), noon);
    EXPECT_EQ(at("2026-11-21T00:00:00-12:00"), noon);
    EXPECT_EQ(at("2026-11-22T00:30:00.001+12:30"), noon + 1ms);
    EXPECT_FALSE(at("9999-12-31T23:59:59-00:01")) << "in the year 10000";
    EXPECT_FALSE(at("0000-01-01T00:00:00+00:01")) << "before the year 0";
    for (const auto* wrong :
         {"",
          "2026-11-21T12:00:00",
          "2026-11-21 12:00:00Z",
          "2026-11-21T12:00:00.Z",
          "2026-11-21T12:00:00.1234Z",
          "2026-11-21T12:00:00.1230000000Z",
          "2026-11-21T12:00:60Z",
          "2026-02-30T12:00:00Z",
          "2026-11-21T12:00:00+0100",
          "2026-11-21T12:00:00+24:00",
          "2026-11-21T12:00:00+01:60",
          "2026-11-21T12:00:00+01:0x",
          "2026-11-21T12:00:00Zz"})
        EXPECT_FALSE(at(wrong)) << wrong;
}

TEST(JsonTypes, amounts_keep_each_unit) {
    using json::decimal_from_text, json::decimal_text;
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    struct Case {
        std::int64_t units;
        int decimals;
        std::string text;
    };
    for (const auto& c : std::vector<Case>{
             {0, 2, "0.00"},
             {5, 2, "0.05"},
             {-5, 2, "-0.05"},
             {-1234, 2, "-12.34"},
             {7, 0, "7"},
             {-7, 0, "-7"},
             {1, 18, "0.000000000000000001"},
             {most, 2, "92233720368547758.07"},
             {least, 2, "-92233720368547758.08"},
             {least, 18, "-9.223372036854775808"}}) {
        EXPECT_EQ(decimal_text(c.units, c.decimals), c.text);
        EXPECT_EQ(decimal_from_text(c.text, c.decimals), c.units) << c.text;
    }
    EXPECT_EQ(decimal_from_text("12", 2), 1200);
    EXPECT_EQ(decimal_from_text("12.3", 2), 1230);
    EXPECT_EQ(decimal_from_text("-0.3", 2), -30);
    for (const auto* wrong :
         {"",
          "-",
          ".5",
          "5.",
          "+1",
          "1e2",
          " 1",
          "1 ",
          "01",
          "1.234",
          "1,2",
          "--1",
          "1.-2",
          "92233720368547758.08",
          "99999999999999999999"})
        EXPECT_FALSE(decimal_from_text(wrong, 2)) << wrong;
}

struct Traced {
    std::int64_t cents{};
    FromHeader<"traceparent"> trace{};
    FromHeader<"X-Request-Id"> request_id{};
};

RequestFields fields_of(std::string_view body) {
    RequestFields fields;
    EXPECT_FALSE(fields.add_json(body));
    return fields;
}

TEST(JsonTypes, a_header_is_a_field_that_comes_from_nowhere_else) {
    EXPECT_EQ(
        header_names<Traced>(), (std::vector<std::string_view>{"traceparent", "X-Request-Id"})
    );
    auto fields = fields_of(R"({"cents":5})");
    fields.add_header("traceparent", "00-ab");
    fields.add_header("X-Request-Id", "\xff");  // Not UTF-8.

    const auto request = std::get<Traced>(decode_request<Traced>(fields));

    EXPECT_EQ(request.trace.value, "00-ab");
    EXPECT_FALSE(request.request_id.value);
    EXPECT_EQ(encode(request), R"({"cents":5,"trace":"00-ab"})");
    EXPECT_EQ(std::get<Traced>(decode<Traced>(encode(request))).trace.value, "00-ab");
    const auto in_body = decode_request<Traced>(fields_of(R"({"cents":5,"trace":"x"})"));
    EXPECT_EQ(std::get<DecodeProblem>(in_body).field, "trace");
    auto query = fields_of(R"({"cents":5})");
    EXPECT_FALSE(query.add_query("trace=x"));
    EXPECT_EQ(std::get<DecodeProblem>(decode_request<Traced>(query)).field, "trace");
}

}  // namespace
}  // namespace pawl::detail
