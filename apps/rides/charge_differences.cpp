#include "apps/rides/charge_differences.hpp"

#include <algorithm>
#include <utility>

namespace rides {

namespace {

void add_difference(
    std::string& to, std::string_view what, const std::string& theirs, const std::string& ours
) {
    if (theirs == ours) return;
    if (!to.empty()) to += "; ";
    to.append(what).append(": theirs ").append(theirs).append(", ours ").append(ours);
}

std::string refund_text(bool it_is) {
    return it_is ? "refunded" : "not refunded";
}

}  // namespace

std::string detail_of(const BookedCharge& theirs, const RideWithCharge& ours) {
    std::string detail;
    if (theirs.amount != ours.amount)
        add_difference(
            detail, "amount", std::to_string(theirs.amount), std::to_string(ours.amount)
        );
    if (theirs.currency != ours.currency)
        add_difference(detail, "currency", theirs.currency, ours.currency);
    const bool back = theirs.amount > 0 && theirs.amount_refunded >= theirs.amount;
    if (back != (ours.state == "refunded"))
        add_difference(detail, "state", refund_text(back), refund_text(ours.state == "refunded"));
    else if (!back && theirs.amount_refunded != ours.refunded)
        add_difference(
            detail,
            "refunded",
            std::to_string(theirs.amount_refunded),
            std::to_string(ours.refunded)
        );
    return detail;
}

ChargeDifference differing(const BookedCharge& theirs, const RideWithCharge& ours) {
    return {theirs.id, "differs", ours.id, theirs.amount, theirs.currency, detail_of(theirs, ours)};
}

Compared compare(std::vector<BookedCharge> theirs, std::vector<RideWithCharge> ours) {
    std::ranges::sort(theirs, {}, &BookedCharge::id);
    std::ranges::sort(ours, {}, &RideWithCharge::charge);
    Compared found;
    auto a = theirs.begin();
    auto b = ours.begin();
    while (a != theirs.end() || b != ours.end()) {
        if (b == ours.end() || (a != theirs.end() && a->id < b->charge)) {
            found.only_theirs.push_back(std::move(*a++));
        } else if (a == theirs.end() || b->charge < a->id) {
            found.only_ours.push_back(std::move(*b++));
        } else {
            if (!detail_of(*a, *b).empty()) found.differ.push_back(differing(*a, *b));
            ++a;
            ++b;
        }
    }
    return found;
}

}  // namespace rides
