#include <pawl/detail/json.hpp>

#include <gtest/gtest.h>

namespace pawl::detail::request_test {

namespace {

enum class Ride { shared, alone };

struct RideId {
    std::int64_t value{};
    bool operator==(const RideId&) const = default;
};
struct Place {
    double lat{};
    double lon{};
    bool operator==(const Place&) const = default;
};
struct Tip {
    RideId ride{};
    std::int32_t cents{};
    std::optional<Ride> kind{};
    std::optional<bool> gift{};
    std::vector<std::string> notes{};
    std::optional<Place> place{};
    bool operator==(const Tip&) const = default;
};
struct Precise {
    double exact{};
    float rough{};
    std::uint64_t count{};
};
struct WithPlaces {
    std::vector<Place> places{};
};
struct Prefixed {
    int a{};
    int ab{};
    bool operator==(const Prefixed&) const = default;
};
struct OnlyValue {
    std::int64_t value{};
    bool operator==(const OnlyValue&) const = default;
};

// A request; an empty part is missing.
struct Sent {
    std::vector<std::pair<std::string, std::string>> path{};
    std::string query{};
    std::string form{};
    std::string json{};
};

template <class R = Tip>
std::variant<R, DecodeProblem> decode_sent(const Sent& sent) {
    RequestFields fields;
    std::optional<DecodeProblem> problem;
    for (const auto& [name, value] : sent.path)
        if (!problem) problem = fields.add_path(name, value);
    if (!problem) problem = fields.add_query(sent.query);
    if (!problem && !sent.form.empty()) problem = fields.add_form(sent.form);
    if (!problem && !sent.json.empty()) problem = fields.add_json(sent.json);
    if (problem) return *problem;
    return decode_request<R>(fields);
}

template <class R = Tip>
void expect_request(const Sent& sent, const R& expected) {
    auto decoded = decode_sent<R>(sent);
    if (auto* problem = std::get_if<DecodeProblem>(&decoded))
        FAIL() << problem->field << ": " << problem->why;
    EXPECT_EQ(std::get<R>(decoded), expected);
}

struct Malformed {
    Sent sent;
    std::string problem;
};

template <class R = Tip>
void expect_problems(const std::vector<Malformed>& table) {
    for (const auto& [sent, expected] : table) {
        auto decoded = decode_sent<R>(sent);
        ASSERT_TRUE(std::holds_alternative<DecodeProblem>(decoded))
            << sent.query << sent.form << sent.json;
        const auto& problem = std::get<DecodeProblem>(decoded);
        EXPECT_EQ(problem.field + ": " + problem.why, expected)
            << sent.query << sent.form << sent.json;
    }
}

const Tip whole{
    .ride = {7},
    .cents = 200,
    .kind = Ride::alone,
    .gift = true,
    .notes = {"a b", "ö"},
    .place = Place{37.77, -1e-2}};

}  // namespace

TEST(DecodeRequest, a_json_body_fills_all_fields) {
    expect_request(
        {.json = R"({"ride":7,"cents":200,"kind":"alone","gift":true,"notes":["a b","ö"],)"
                 R"("place":{"lat":37.77,"lon":-1e-2}})"},
        whole
    );
}

TEST(DecodeRequest, a_form_says_the_same_as_json) {
    expect_request(
        {.form = "ride=7&cents=200&kind=alone&gift=true&notes=a+b&notes=%C3%B6&place.lat=37.77&"
                 "place.lon=-1e-2"},
        whole
    );
}

TEST(DecodeRequest, fields_come_from_path_query_and_body_together) {
    expect_request(
        {.path = {{"ride", "7"}}, .query = "cents=200", .json = R"({"notes":[]})"},
        Tip{.ride = {7}, .cents = 200}
    );
    expect_request(
        {.path = {{"ride", "7"}, {"cents", "200"}},
         .query = "kind=shared",
         .form = "notes=x&gift=false"},
        Tip{.ride = {7}, .cents = 200, .kind = Ride::shared, .gift = false, .notes = {"x"}}
    );
}

TEST(DecodeRequest, a_single_value_in_the_path_is_a_field_like_any_other) {
    expect_request<OnlyValue>(
        {.path = {{"value", "-9223372036854775808"}}}, {std::numeric_limits<std::int64_t>::min()}
    );
    expect_request<OnlyValue>({.json = R"({"value":5})"}, {5});
}

TEST(DecodeRequest, a_name_that_begins_like_another_is_a_different_field) {
    expect_request<Prefixed>({.query = "ab=2", .json = R"({"a":1})"}, {1, 2});
}

TEST(DecodeRequest, whole_numbers_of_text_may_be_spelled_as_in_json) {
    expect_request(
        {.form = "ride=7.0&cents=2e2&notes="}, Tip{.ride = {7}, .cents = 200, .notes = {""}}
    );
}

TEST(DecodeRequest, refuses_a_field_from_two_places) {
    constexpr auto rest = R"({"ride":1,"cents":2,"notes":[],"place":{"lat":1,"lon":2}})";
    expect_problems({
        {{.query = "cents=2", .json = rest},
         "cents: Is given twice: in the query and in the body."},
        {{.path = {{"ride", "1"}}, .json = rest},
         "ride: Is given twice: in the path and in the body."},
        {{.query = "place.lat=1", .json = rest},
         "place: Is given twice: in the query and in the body."},
        {{.query = "notes=a", .json = rest},
         "notes: Is given twice: in the query and in the body."},
        {{.path = {{"ride", "1"}}, .query = "ride=1"},
         "ride: Is given twice: in the path and in the query."},
        {{.query = "ride=1&cents=1", .form = "cents=1"},
         "cents: Is given twice: in the query and in the body."},
        {{.query = "ride=1&cents=1&notes=a", .form = "notes=b"},
         "notes: Is given twice: in the query and in the body."},
        {{.form = "ride=1&ride=1"}, "ride: Is given more than once."},
        {{.form = "ride=1&cents=1&notes=a&gift=true&gift=true"}, "gift: Is given more than once."},
        {{.path = {{"ride", "1"}, {"ride", "2"}}}, "ride: Is given more than once."},
        {{.json = R"({"ride":1,"ride":1})"}, "ride: This name appears twice in one object."},
    });
}

TEST(DecodeRequest, refuses_missing_and_unknown_fields) {
    expect_problems({
        {{}, "ride: This field is missing."},
        {{.json = "{}"}, "ride: This field is missing."},
        {{.form = "ride=1&cents=2"}, "notes: This field is missing."},
        {{.form = "ride=1&cents=2&notes=a&place.lat=1"}, "place.lon: This field is missing."},
        {{.form = "ride=1&cents=2&notes=a&extra=1"}, "extra: This field is not known."},
        {{.query = "utm_source=x", .json = "{}"}, "utm_source: This field is not known."},
        {{.form = "Ride=1"}, "Ride: This field is not known."},
        {{.form = "ride.value=1"}, "ride.value: This field is not known."},
        {{.form = "ride.=1"}, "ride.: This field is not known."},
        {{.form = "place=1"}, "place: This field is not known."},
        {{.form = "place.=1"}, "place.: This field is not known."},
        {{.form = ".lat=1"}, ".lat: This field is not known."},
        {{.form = "place.lat.x=1"}, "place.lat.x: This field is not known."},
        {{.form = "place.alt=1"}, "place.alt: This field is not known."},
        {{.form = "notes[]=1"}, "notes[]: This field is not known."},
        {{.form = std::string(41, 'x') + "=1"},
         std::string(37, 'x') + "...: This field is not known."},
        {{.path = {{"ride", "1"}}, .json = R"({"cents":1,"notes":[],"extra":{}})"},
         "extra: This field is not known."},
    });
}

TEST(DecodeRequest, reads_text_strictly_as_the_type_of_its_field) {
    constexpr auto cents_range = "cents: Must be a whole number from -2147483648 to 2147483647.";
    auto cents = [](std::string text) { return Sent{.form = "ride=1&notes=a&cents=" + text}; };
    auto also = [](std::string pair) { return Sent{.form = "ride=1&notes=a&cents=1&" + pair}; };
    expect_problems({
        {cents(""), "cents: Must be a number."},
        {cents("+1"), "cents: Must be a number."},  // A plus sign is a space.
        {cents("%2B1"), "cents: Must be a number."},
        {cents("1+"), "cents: Must be a number."},
        {cents("01"), "cents: Must be a number."},
        {cents("1%0A"), "cents: Must be a number."},
        {cents("0x10"), "cents: Must be a number."},
        {cents("1,000"), "cents: Must be a number."},
        {cents("12abc"), "cents: Must be a number."},
        {cents("NaN"), "cents: Must be a number."},
        {cents("null"), "cents: Must be a number."},
        {cents("1.5"), "cents: Must be a whole number."},
        {cents("2147483648"), cents_range},
        {cents("-2147483649"), cents_range},
        {cents("99999999999999999999"),
         "cents: Is a whole number with more digits than can be held exactly."},
        {also("gift=1"), "gift: Must be true or false."},
        {also("gift="), "gift: Must be true or false."},
        {also("gift=True"), "gift: Must be true or false."},
        {also("gift=on"), "gift: Must be true or false."},
        {also("kind=both"), "kind: Must be one of: shared, alone."},
        {also("kind="), "kind: Must be one of: shared, alone."},
        {also("place.lat=north&place.lon=1"), "place.lat: Must be a number."},
        {also("place.lat=1&place.lon=1e999"),
         "place.lon: Is a number too large or too small for a double."},
        {{.path = {{"ride", "x"}}}, "ride: Must be a number."},
        {{.path = {{"ride", ""}}}, "ride: Must be a number."},
    });
    expect_problems<Precise>({
        {{.query = "exact=9007199254740993"},
         "exact: Has more digits than its type holds exactly."},
        {{.query = "exact=1&rough=1e39"}, "rough: Is too large or too small for its type."},
        {{.query = "exact=1&rough=1&count=-1"},
         "count: Must be a whole number from 0 to 18446744073709551615."},
    });
    expect_problems<WithPlaces>({{{.form = "places=1"}, "places[0]: Can be sent as JSON only."}});
}

TEST(DecodeRequest, refuses_malformed_sources) {
    using namespace std::string_literals;
    expect_problems({
        {{.json = "[]"}, ": Must be an object."},
        {{.json = "nul"}, ": Is not JSON: it ends too early."},
        {{.json = R"({"notes":["\u0000"]})"}, "notes[0]: Holds the character U+0000."},
        {{.json = R"({"a\u0000":1})"}, ": Holds the character U+0000."},
        {{.json = "{\"notes\":[\"\xFF\"]}"}, ": Is not UTF-8."},
        {{.query = "cents=%zz"}, "cents: Has a broken % escape."},
        {{.form = "notes=%ff"}, "notes: Is not UTF-8."},
        {{.path = {{"ride", "\xFF"}}}, "ride: Is not UTF-8."},
        {{.path = {{"ride", "1\0"s}}}, "ride: Holds the character U+0000."},
    });
}

TEST(RequestFields, gives_out_a_hidden_form_field_once) {
    RequestFields fields;
    ASSERT_EQ(fields.add_query("idempotency_key=query"), std::nullopt);
    ASSERT_EQ(fields.add_form("value=1&idempotency_key=k+1"), std::nullopt);

    EXPECT_EQ(fields.take_form("idempotency_key"), "k 1");

    EXPECT_EQ(fields.take_form("idempotency_key"), std::nullopt);
    EXPECT_EQ(fields.texts().size(), 2U);
}

TEST(RequestFields, a_duplicate_hidden_field_stays_and_is_refused) {
    RequestFields fields;
    ASSERT_EQ(fields.add_form("value=1&idempotency_key=a&idempotency_key=b"), std::nullopt);

    EXPECT_EQ(fields.take_form("idempotency_key"), std::nullopt);

    auto decoded = decode_request<OnlyValue>(fields);
    EXPECT_EQ(
        std::get<DecodeProblem>(decoded),
        (DecodeProblem{"idempotency_key", "This field is not known."})
    );
}

}  // namespace pawl::detail::request_test
