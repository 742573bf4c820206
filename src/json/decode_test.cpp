#include <pawl/detail/json.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>

namespace pawl {

void PrintTo(const DecodeProblem& problem, std::ostream* out) {
    *out << problem.field << ": " << problem.why;
}

namespace detail {

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
struct Trip {
    [[maybe_unused]] static constexpr std::string_view name = "trip";
    RideId ride{};
    std::int8_t seats{};
    std::uint16_t cents{};
    double price{};
    float ratio{};
    bool paid{};
    std::string note{};
    Ride kind{};
    std::optional<std::string> tip{};
    std::vector<Place> stops{};
    Place origin{};
    bool operator==(const Trip&) const = default;
};
struct Widths {
    std::int64_t a{};
    std::uint64_t b{};
    std::int32_t c{};
    std::uint8_t d{};
    long e{};
    unsigned long long f{};
    bool operator==(const Widths&) const = default;
};
struct Empty {
    bool operator==(const Empty&) const = default;
};
struct MaybeValue {
    std::optional<int> value;
    bool operator==(const MaybeValue&) const = default;
};
struct Nested {
    std::vector<std::vector<bool>> table;
    std::optional<std::vector<RideId>> rides;
    std::optional<Place> place;
    bool operator==(const Nested&) const = default;
};
struct Chain {
    std::vector<Chain> next;
};

const Trip trip{
    .ride = {9'007'199'254'740'993},
    .seats = -3,
    .cents = 65'535,
    .price = 12.5,
    .ratio = 0.5F,
    .paid = true,
    .note = "a \"quoted\" é\n",
    .kind = Ride::alone,
    .tip = std::nullopt,
    .stops = {{1, 2}, {-0.25, 1e-7}},
    .origin = {37.77, -122.42}};

// Trip's JSON with one member's text replaced; an empty text omits the member.
std::string with(std::string_view member, std::string_view text) {
    const std::vector<std::pair<std::string_view, std::string_view>> good = {
        {"ride", "7"},
        {"seats", "1"},
        {"cents", "2"},
        {"price", "1.5"},
        {"ratio", "0.5"},
        {"paid", "true"},
        {"note", R"("")"},
        {"kind", R"("alone")"},
        {"stops", "[]"},
        {"origin", R"({"lat":1,"lon":2})"}};
    std::string json = "{";
    auto append = [&json](std::string_view name, std::string_view value) {
        if (value.empty()) return;
        json.append(json.size() > 1 ? "," : "")
            .append("\"")
            .append(name)
            .append("\":")
            .append(value);
    };
    bool replaced = false;
    for (auto [name, value] : good) {
        append(name, name == member ? text : value);
        replaced = replaced || name == member;
    }
    if (!replaced) append(member, text);
    return json.append("}");
}

struct Malformed {
    std::string json;
    DecodeProblem problem;
};

void expect_problems(const std::vector<Malformed>& table) {
    for (const auto& [json, expected] : table) {
        auto decoded = decode<Trip>(json);
        ASSERT_TRUE(std::holds_alternative<DecodeProblem>(decoded)) << json;
        EXPECT_EQ(std::get<DecodeProblem>(decoded), expected) << json;
    }
}

template <class T>
void expect_round_trip(const T& value, std::string_view json) {
    EXPECT_EQ(encode(value), json);
    auto back = decode<T>(json);
    ASSERT_TRUE(std::holds_alternative<T>(back))
        << std::get<DecodeProblem>(back).field << std::get<DecodeProblem>(back).why;
    EXPECT_EQ(std::get<T>(back), value);
}

}  // namespace

TEST(Encode, writes_fields_in_their_order_and_leaves_empty_ones_out) {
    expect_round_trip(
        trip,
        R"({"ride":9007199254740993,"seats":-3,"cents":65535,"price":12.5,"ratio":0.5,"paid":true,)"
        R"("note":"a \"quoted\" é\n","kind":"alone",)"
        R"("stops":[{"lat":1,"lon":2},{"lat":-0.25,"lon":1e-7}],)"
        R"("origin":{"lat":37.77,"lon":-122.42}})"
    );
}

TEST(Encode, a_struct_with_only_a_value_is_written_as_that_value) {
    expect_round_trip(RideId{7}, "7");
    expect_round_trip(Empty{}, "{}");
    expect_round_trip(MaybeValue{}, "{}");
    expect_round_trip(MaybeValue{1}, R"({"value":1})");
    expect_round_trip(std::vector<RideId>{{1}, {2}}, "[1,2]");
}

TEST(Encode, lists_and_optionals_nest) {
    expect_round_trip(Nested{}, R"({"table":[]})");
    expect_round_trip(
        Nested{{{true, false}, {}}, {{{1}, {2}}}, {{1, 2}}},
        R"({"table":[[true,false],[]],"rides":[1,2],"place":{"lat":1,"lon":2}})"
    );
}

TEST(Encode, every_whole_number_comes_back_exactly) {
    using std::numeric_limits;
    expect_round_trip(
        Widths{
            numeric_limits<std::int64_t>::min(),
            numeric_limits<std::uint64_t>::max(),
            numeric_limits<std::int32_t>::min(),
            255,
            numeric_limits<long>::max(),
            9'223'372'036'854'775'808ULL},
        R"({"a":-9223372036854775808,"b":18446744073709551615,"c":-2147483648,"d":255,)"
        R"("e":9223372036854775807,"f":9223372036854775808})"
    );
}

TEST(Encode, doubles_of_all_sizes_come_back_exactly) {
    for (double value :
         {0.1,
          5e-324,
          1.7976931348623157e308,
          1e21,
          1.8446744073709552e19,
          -9.3e18,
          12345678901234567168.0,
          9007199254740993.0,
          295147905179352825856.0}) {
        auto back = decode<Place>(encode(Place{value, -value}));
        ASSERT_TRUE(std::holds_alternative<Place>(back)) << value;
        EXPECT_EQ(std::get<Place>(back), (Place{value, -value}));
    }
}

TEST(Encode, throws_for_values_without_a_json_form) {
    auto with_note = [](std::string note) { return encode(Trip{.note = std::move(note)}); };
    auto message = [](auto make) -> std::string {
        try {
            make();
        } catch (const EncodeError& error) {
            return error.what();
        }
        return "nothing thrown";
    };

    EXPECT_EQ(
        message([] {
            encode(Place{1, std::nan("")});
        }),
        "The field lon has no JSON form: it is not a finite number."
    );
    EXPECT_THROW(encode(Place{INFINITY, 1}), EncodeError);
    EXPECT_THROW(encode(std::vector<float>{-INFINITY}), EncodeError);
    EXPECT_EQ(
        message([&] { with_note("\xC3"); }), "The field note has no JSON form: it is not UTF-8."
    );
    for (auto* bad :
         {"\x80",
          "\xC0\x80",
          "\xE0\x9F\xBF",
          "\xF0\x8F\xBF\xBF",
          "\xED\xA0\x80",
          "\xF4\x90\x80\x80",
          "\xE2\x82",
          "a\xFF"})
        EXPECT_THROW(with_note(bad), EncodeError) << bad;
    EXPECT_EQ(
        message([] { encode(static_cast<Ride>(9)); }),
        "The value has no JSON form: it has a value without a name in its enumeration."
    );
}

TEST(Encode, refuses_more_levels_than_decode_takes) {
    Chain chain;
    for (int i = 0; i < 15; ++i) chain = Chain{{chain}};
    EXPECT_TRUE(std::holds_alternative<Chain>(decode<Chain>(encode(chain))));
    EXPECT_THROW(encode(std::vector<Chain>{chain}), EncodeError);  // 33 levels.
}

TEST(Decode, takes_any_spelling_of_the_right_value) {
    auto decoded = decode<Trip>(
        " {\"origin\":{\"lon\":2e0,\"lat\":1},\"stops\":[],\"tip\":null,\"kind\":\"sh\\u0061red\","
        "\"note\":\"\\u00e9\","
        "\"paid\":false,\"ratio\":1,\"price\":-0,\"cents\":1.0,\"seats\":1e1,\"ride\":0}\n"
    );

    ASSERT_TRUE(std::holds_alternative<Trip>(decoded)) << std::get<DecodeProblem>(decoded).why;
    EXPECT_EQ(
        std::get<Trip>(decoded),
        (Trip{
            .ride = {0},
            .seats = 10,
            .cents = 1,
            .price = 0,
            .ratio = 1,
            .note = "é",
            .origin = {1, 2}})
    );
}

TEST(Decode, a_text_with_u0000_survives_a_round_trip) {
    std::string text{"a\0b", 3};
    auto back = decode<std::string>(encode(text));

    EXPECT_EQ(std::get<std::string>(back), text);
}

TEST(Decode, names_the_field_that_is_missing_unknown_or_twice) {
    expect_problems({
        {with("ride", ""), {"ride", "This field is missing."}},
        {with("stops", ""), {"stops", "This field is missing."}},
        {with("origin", "{}"), {"origin.lat", "This field is missing."}},
        {with("origin", R"({"lat":1})"), {"origin.lon", "This field is missing."}},
        {with("stops", R"([{"lat":1,"lon":2},{"lon":1}])"),
         {"stops[1].lat", "This field is missing."}},
        {with("extra", "1"), {"extra", "This field is not known."}},
        {with("Ride", "1"), {"Ride", "This field is not known."}},
        {with("name", R"("trip")"), {"name", "This field is not known."}},
        {with("origin", R"({"lat":1,"lon":2,"alt":3})"),
         {"origin.alt", "This field is not known."}},
        {with("stops", R"([{"lat":1,"lon":2,"":3}])"), {"stops[0]", "This field is not known."}},
        {with(std::string(41, 'x'), "1"),
         {std::string(37, 'x') + "...", "This field is not known."}},
        {with("extra", R"(1,"extra":2)"), {"extra", "This name appears twice in one object."}},
        {with("origin", R"({"lat":1,"lon":2,"lat":1})"),
         {"origin.lat", "This name appears twice in one object."}},
        {with("stops", R"([{"lat":1,"lat":1}])"),
         {"stops[0].lat", "This name appears twice in one object."}},
    });
}

TEST(Decode, names_the_field_of_a_wrong_kind) {
    expect_problems({
        {with("ride", R"("7")"), {"ride", "Must be a number."}},
        {with("ride", "null"), {"ride", "Must be a number."}},
        {with("ride", R"({"value":7})"), {"ride", "Must be a number."}},
        {with("cents", "true"), {"cents", "Must be a number."}},
        {with("price", "[1]"), {"price", "Must be a number."}},
        {with("ratio", R"("1")"), {"ratio", "Must be a number."}},
        {with("paid", "1"), {"paid", "Must be true or false."}},
        {with("paid", R"("true")"), {"paid", "Must be true or false."}},
        {with("note", "1"), {"note", "Must be a string."}},
        {with("note", "null"), {"note", "Must be a string."}},
        {with("tip", "[]"), {"tip", "Must be a string."}},
        {with("kind", "0"), {"kind", "Must be one of: shared, alone."}},
        {with("kind", R"("Alone")"), {"kind", "Must be one of: shared, alone."}},
        {with("kind", R"("")"), {"kind", "Must be one of: shared, alone."}},
        {with("stops", "{}"), {"stops", "Must be a list."}},
        {with("stops", "null"), {"stops", "Must be a list."}},
        {with("stops", "[1]"), {"stops[0]", "Must be an object."}},
        {with("stops", R"([{"lat":"1","lon":2}])"), {"stops[0].lat", "Must be a number."}},
        {with("origin", "[]"), {"origin", "Must be an object."}},
        {"[]", {"", "Must be an object."}},
        {"7", {"", "Must be an object."}},
        {"null", {"", "Must be an object."}},
    });
}

TEST(Decode, names_the_field_whose_type_cannot_hold_the_value) {
    constexpr auto ride_range =
        "Must be a whole number from -9223372036854775808 to 9223372036854775807.";
    expect_problems({
        {with("seats", "128"), {"seats", "Must be a whole number from -128 to 127."}},
        {with("seats", "-129"), {"seats", "Must be a whole number from -128 to 127."}},
        {with("seats", "1.5"), {"seats", "Must be a whole number."}},
        {with("seats", "1e3"), {"seats", "Must be a whole number from -128 to 127."}},
        {with("cents", "-1"), {"cents", "Must be a whole number from 0 to 65535."}},
        {with("cents", "65536"), {"cents", "Must be a whole number from 0 to 65535."}},
        {with("cents", "0.1"), {"cents", "Must be a whole number."}},
        {with("ride", "9223372036854775808"), {"ride", ride_range}},
        {with("ride", "18446744073709552000"), {"ride", ride_range}},
        {with("ride", "1e18"), {"ride", "Must be written with all its digits."}},
        {with("ride", "9007199254740994.0"), {"ride", "Must be written with all its digits."}},
        {with("price", "9007199254740993"),
         {"price", "Has more digits than its type holds exactly."}},
        {with("price", "18446744073709551615"),
         {"price", "Has more digits than its type holds exactly."}},
        {with("ratio", "16777217"), {"ratio", "Has more digits than its type holds exactly."}},
        {with("ratio", "1e39"), {"ratio", "Is too large or too small for its type."}},
        {with("price", "1e400"), {"price", "Is a number too large or too small for a double."}},
        {with("price", "-1e400"), {"price", "Is a number too large or too small for a double."}},
        {with("price", "1e-400"), {"price", "Is a number too large or too small for a double."}},
        {with("ride", "18446744073709551616"),
         {"ride", "Is a whole number with more digits than can be held exactly."}},
        {with("origin", R"({"lat":1,"lon":1e999})"),
         {"origin.lon", "Is a number too large or too small for a double."}},
    });
}

TEST(Decode, names_the_byte_where_a_text_stops_being_json) {
    constexpr auto too_early = "Is not JSON: it ends too early.";
    expect_problems({
        {"", {"", too_early}},
        {" ", {"", too_early}},
        {"{", {"", too_early}},
        {R"({"ride":7)", {"", too_early}},
        {R"({"note":"a)", {"", too_early}},
        {"tru", {"", too_early}},
        {with("ride", "7") + "x", {"", "Is not JSON: more follows after the end at byte 129."}},
        {"{} {}", {"", "Is not JSON: more follows after the end at byte 3."}},
        {with("ride", "07"), {"", "Is not JSON: error at byte 9."}},
        {with("ride", "+7"), {"", "Is not JSON: error at byte 8."}},
        {with("ride", "7."), {"", "Is not JSON: error at byte 10."}},
        {with("ride", ".7"), {"", "Is not JSON: error at byte 8."}},
        {with("ride", "NaN"), {"", "Is not JSON: error at byte 8."}},
        {with("ride", "Infinity"), {"", "Is not JSON: error at byte 8."}},
        {with("ride", "0x7"), {"", "Is not JSON: error at byte 9."}},
        {R"({"ride":7,})", {"", "Is not JSON: error at byte 10."}},
        {"{ride:7}", {"", "Is not JSON: error at byte 1."}},
        {"{'ride':7}", {"", "Is not JSON: error at byte 1."}},
        {R"({"ride" 7})", {"", "Is not JSON: error at byte 8."}},
        {"[1,]", {"", "Is not JSON: error at byte 3."}},
        {"{}//", {"", "Is not JSON: more follows after the end at byte 2."}},
        {"/**/{}", {"", "Is not JSON: error at byte 0."}},
        {"True", {"", "Is not JSON: error at byte 0."}},
        {"\xEF\xBB\xBF{}", {"", "Is not JSON: error at byte 0."}},
        {"{\"note\":\"a\nb\"}", {"", "Is not JSON: error at byte 10."}},
        {R"({"note":"\x41"})", {"", "Is not JSON: error at byte 10."}},
        {R"({"note":"\u12g4"})", {"", "Is not JSON: error at byte 13."}},
        {R"({"note":"\ud800"})", {"", "Is not JSON: error at byte 15."}},
        {R"({"note":"\udc00"})", {"", "Is not JSON: error at byte 15."}},
        {std::string(33, '['), {"", "Is nested deeper than 32 levels."}},
        {"{\"note\":\"\xC3\x28\"}", {"", "Is not UTF-8."}},
        {"{\"note\":\"\xED\xA0\x80\"}", {"", "Is not UTF-8."}},
        {"{\"\xFF\":1}", {"", "Is not UTF-8."}},
    });
}

}  // namespace detail
}  // namespace pawl
