#include <pawl/detail/reflect.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::detail::reflect_test {

struct Place {
    double lat{};
    double lon{};
};

struct RideCreated {
    static constexpr std::string_view name = "ride_created";
    static constexpr int version = 2;
    std::int64_t ride{};
    std::string note;
    std::optional<Place> target;
    std::vector<Place> stops;
    Place origin;
    bool done{};
};

struct Empty {};
struct OneString {
    std::string only;
};
struct OneOptional {
    std::optional<int> only;
};
struct OneVector {
    std::vector<int> only;
};
struct OneNested {
    OneString only;
};
struct OnePlace {
    Place only;
};
struct OptionalOfVector {
    std::optional<std::vector<std::string>> only;
};
template <class T>
struct Box {
    T content;
    int size_2{};
};
struct Twenty {
    std::string a;
    int b{}, c{};
    std::optional<std::string> d;
    double e{};
    std::vector<int> f;
    bool g{}, h{};
    Place i;
    std::optional<Place> j;
    int k{}, l{}, m{}, n{}, o{};
    std::string p, q, r;
    std::vector<std::string> s;
    char tail{};
};
struct MoveOnly {
    std::unique_ptr<int> owned;
    int count{};
};

namespace {
struct Hidden {
    int first{};
    std::string second;
};
enum class HiddenWord : signed char { below = -16, minus = -1, zero, top = 127 };
}  // namespace

enum class Ride { shared, alone, late = 100 };
enum Plain : int { red, green = 3 };
enum class Flag : bool { off, on };
enum class Letter : char { a = 'a', b };
enum class Byte : std::uint8_t { first, high = 127, beyond = 200 };
enum class Wide : std::uint64_t { small = 7, huge = 18'446'744'073'709'551'615U };
enum class Alias { first = 1, same = 1 };

template <class T>
std::vector<std::string> names_of() {
    return {field_names<T>.begin(), field_names<T>.end()};
}
using Names = std::vector<std::string>;

static_assert(field_count<RideCreated> == 6);
static_assert(field_count<const RideCreated> == 6);
static_assert(field_name<RideCreated, 4>() == "origin");
static_assert(std::is_same_v<FieldType<RideCreated, 3>, std::vector<Place>>);

TEST(Reflect, names_are_as_written_and_static_members_are_no_fields) {
    EXPECT_EQ(
        names_of<RideCreated>(), (Names{"ride", "note", "target", "stops", "origin", "done"})
    );
}

TEST(Reflect, structs_of_one_field_of_any_kind_have_one_field) {
    EXPECT_EQ(names_of<OneString>(), Names{"only"});
    EXPECT_EQ(names_of<OneOptional>(), Names{"only"});
    EXPECT_EQ(names_of<OneVector>(), Names{"only"});
    EXPECT_EQ(names_of<OneNested>(), Names{"only"});
    EXPECT_EQ(names_of<OnePlace>(), Names{"only"});
    EXPECT_EQ(names_of<OptionalOfVector>(), Names{"only"});
}

TEST(Reflect, an_empty_struct_has_no_field) {
    Empty empty;
    int calls = 0;

    for_each_field(empty, [&](std::string_view, auto&) { ++calls; });

    EXPECT_EQ(field_count<Empty>, 0U);
    EXPECT_EQ(calls, 0);
}

TEST(Reflect, twenty_fields_are_all_named) {
    EXPECT_EQ(names_of<Twenty>(), (Names{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                         "k", "l", "m", "n", "o", "p", "q", "r", "s", "tail"}));
}

TEST(Reflect, types_without_linkage_and_templates_have_names) {
    struct Local {
        int in_a_function{};
        std::string text;
    };

    EXPECT_EQ(names_of<Local>(), (Names{"in_a_function", "text"}));
    EXPECT_EQ(names_of<Hidden>(), (Names{"first", "second"}));
    EXPECT_EQ(names_of<Box<std::vector<Hidden>>>(), (Names{"content", "size_2"}));
    EXPECT_EQ(names_of<MoveOnly>(), (Names{"owned", "count"}));
}

TEST(Reflect, fields_can_be_written_and_read_in_order) {
    Place place;
    double next = 1;
    std::string seen;

    for_each_field(place, [&](std::string_view, double& field) { field = next++; });
    const Place& fixed = place;
    for_each_field(fixed, [&](std::string_view name, const double& field) {
        seen.append(name).append("=").append(std::to_string(static_cast<int>(field))).append(" ");
    });

    EXPECT_EQ(seen, "lat=1 lon=2 ");
}

template <class E>
void expect_both_ways(E value, std::string_view name) {
    EXPECT_EQ(enum_name(value), name);
    EXPECT_EQ(enum_from_name<E>(name), value);
}

TEST(EnumName, enumerators_are_named_and_found_by_name) {
    enum class Local { in_a_function = 5 };

    expect_both_ways(Ride::shared, "shared");
    expect_both_ways(Ride::late, "late");
    expect_both_ways(red, "red");
    expect_both_ways(green, "green");
    expect_both_ways(HiddenWord::minus, "minus");
    expect_both_ways(Local::in_a_function, "in_a_function");
    static_assert(enum_name(Ride::alone) == "alone");
}

TEST(EnumName, small_underlying_types_and_both_ends_of_the_range_are_seen) {
    expect_both_ways(Flag::off, "off");
    expect_both_ways(Flag::on, "on");
    expect_both_ways(Letter::b, "b");
    expect_both_ways(Byte::first, "first");
    expect_both_ways(Byte::high, "high");
    expect_both_ways(Wide::small, "small");
    expect_both_ways(HiddenWord::below, "below");
    expect_both_ways(HiddenWord::top, "top");
}

TEST(EnumName, values_without_a_name_in_the_range_have_none) {
    EXPECT_EQ(enum_name(static_cast<Ride>(7)), std::nullopt);
    EXPECT_EQ(enum_name(static_cast<Ride>(-1)), std::nullopt);
    EXPECT_EQ(enum_name(static_cast<Ride>(1'000)), std::nullopt);
    EXPECT_EQ(enum_name(Byte::beyond), std::nullopt);
    EXPECT_EQ(enum_name(static_cast<Byte>(240)), std::nullopt);  // -16 as a byte
    EXPECT_EQ(enum_name(Wide::huge), std::nullopt);
}

TEST(EnumName, text_that_names_no_enumerator_gives_nullopt) {
    for (std::string_view text : {"", "Shared", "sharedx", "share", "Ride::shared", "0", "7"})
        EXPECT_EQ(enum_from_name<Ride>(text), std::nullopt) << text;
    EXPECT_EQ(enum_from_name<Flag>("true"), std::nullopt);
}

TEST(EnumName, an_alias_is_known_by_its_first_name) {
    expect_both_ways(Alias::same, "first");
}

}  // namespace pawl::detail::reflect_test
