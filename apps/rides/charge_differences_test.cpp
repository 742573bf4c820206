#include "apps/rides/charge_differences.hpp"

#include "apps/rides/csv.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace rides {
namespace {

BookedCharge theirs(std::string id, std::int64_t amount = 2000) {
    return {std::move(id), amount, "usd", "cus_jane", "a ride", 1, 0};
}
RideWithCharge ours(std::string charge, std::int64_t id = 1) {
    return {id, "", std::move(charge), 2000, "usd", "booked"};
}

std::string text_of(const Compared& found) {
    std::string text;
    for (const auto& one : found.only_theirs) text += "theirs " + one.id + "; ";
    for (const auto& one : found.only_ours) text += "ours " + one.charge + "; ";
    for (const auto& one : found.differ)
        text += "differs " + one.charge + " of ride " + std::to_string(one.ride.value()) + ": " +
                one.detail + "; ";
    return text;
}

TEST(CompareCharges, finds_what_is_on_one_side_whatever_the_order) {
    EXPECT_EQ(text_of(compare({}, {})), "");
    EXPECT_EQ(text_of(compare({theirs("b"), theirs("a")}, {ours("a"), ours("b")})), "");
    EXPECT_EQ(
        text_of(compare({theirs("d"), theirs("a"), theirs("c")}, {ours("b"), ours("c")})),
        "theirs a; theirs d; ours b; "
    );
    EXPECT_EQ(text_of(compare({}, {ours("b"), ours("a")})), "ours a; ours b; ");
}

TEST(CompareCharges, says_in_what_a_charge_differs) {
    auto other = theirs("a", 1999);
    other.currency = "eur";
    other.amount_refunded = 1999;

    EXPECT_EQ(
        text_of(compare({other}, {ours("a", 7)})),
        "differs a of ride 7: amount: theirs 1999, ours 2000; currency: theirs eur, ours usd; "
        "state: theirs refunded, ours not refunded; "
    );
}

// Issue 38.
TEST(CompareCharges, parts_that_were_refunded_are_compared) {
    auto part = theirs("a");
    part.amount_refunded = 500;
    auto same = ours("a");
    same.refunded = 500;
    auto failed = ours("b");
    failed.refunded = 700;

    EXPECT_EQ(text_of(compare({part}, {same})), "");
    EXPECT_EQ(
        text_of(compare({part, theirs("b")}, {ours("a"), failed})),
        "differs a of ride 1: refunded: theirs 500, ours 0; "
        "differs b of ride 1: refunded: theirs 0, ours 700; "
    );
}

TEST(CompareCharges, one_difference_is_enough) {
    auto currency = theirs("a");
    currency.currency = "eur";
    auto refunded = theirs("b");
    refunded.amount_refunded = 2000;

    EXPECT_EQ(
        text_of(compare({currency, refunded, theirs("c", 2001)}, {ours("a"), ours("b"), ours("c")})
        ),
        "differs a of ride 1: currency: theirs eur, ours usd; "
        "differs b of ride 1: state: theirs refunded, ours not refunded; "
        "differs c of ride 1: amount: theirs 2001, ours 2000; "
    );
}

TEST(CompareCharges, a_part_that_was_refunded_is_no_refund_of_the_charge) {
    auto part = theirs("a");
    part.amount_refunded = 1999;
    auto paid_back = ours("a");
    paid_back.refunded = 1999;
    EXPECT_EQ(text_of(compare({part}, {paid_back})), "");
    auto back = ours("a");
    back.state = "refunded";
    EXPECT_NE(text_of(compare({part}, {back})), "");
    part.amount_refunded = 2000;
    EXPECT_EQ(text_of(compare({part}, {back})), "");
}

std::string csv(const std::vector<std::string>& cells) {
    std::ostringstream out;
    print_csv(out, cells);
    return out.str();
}

TEST(Csv, quotes_as_rfc_4180_and_ends_lines_with_cr_lf) {
    EXPECT_EQ(csv({"a", "", "1"}), "a,,1\r\n");
    EXPECT_EQ(
        csv({"a,b", "say \"x\"", "two\nlines"}), "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\r\n"
    );
}

TEST(Csv, a_cell_is_never_a_formula) {
    EXPECT_EQ(csv({"=1+1", "+1", "-1", "@a", "\ta"}), "'=1+1,'+1,'-1,'@a,'\ta\r\n");
    EXPECT_EQ(csv({"=HYPERLINK(\"x\",1)"}), "\"'=HYPERLINK(\"\"x\"\",1)\"\r\n");
    EXPECT_EQ(csv({"\r=1"}), "\"'\r=1\"\r\n");
}

}  // namespace
}  // namespace rides
