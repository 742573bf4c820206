#include "apps/payouts/post_payout.hpp"

#include "payouts/statements.hpp"

#include <utility>

namespace payouts {

namespace {

struct Taken {
    PayoutId id{};
    std::string end_to_end_id;
    std::string state;
    // As the bank gets them.
    std::string creditor_name;
    std::string reference;
};

// 15 characters, 75 bits, of what the client sent: after a restore of the database the same request
// gets the same id, and no other request does.
std::string end_to_end_id(const PostPayout::Started& at) {
    constexpr std::string_view digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const auto& who = at.principal;
    // The parts contain no line feed: a key is visible ASCII, and the others are our settings'.
    const auto hash = pawl::bank::sha256(who.tenant + "\n" + who.account + "\n" + at.key);
    std::string id;
    for (std::size_t i = 0; i < 15; ++i)
        id += digits[std::stoul(hash.substr(i * 4, 4), nullptr, 16) % digits.size()];
    return id;
}

}  // namespace

pawl::Next<pawl::Refusal> PostPayout::insert(pawl::Tx& tx, const Started& at) {
    const auto& r = at.request;
    Payment payment{
        .end_to_end_id = end_to_end_id(at),
        .amount = r.amount,
        .currency = r.currency,
        .creditor_name = r.creditor_name,
        .creditor_account = r.creditor_account,
        .routing_number = r.routing_number,
        .reference = r.reference.value_or("")};
    if (auto why = format_.problem(payment))
        return pawl::refuse(problem(422, "The payout can't be made", *why));
    payment = format_.as_sent(std::move(payment));
    const auto id = pawl::query_one<PayoutId>(
        tx,
        sql::insert_payout,
        tx.now(),
        at.principal.tenant,
        at.principal.account,
        at.key_id,
        payment.end_to_end_id,
        payment.amount,
        payment.currency,
        payment.creditor_name,
        payment.creditor_account,
        payment.routing_number,
        payment.reference
    );
    tx.reference("payout", id.value);
    tx.reference("end_to_end_id", payment.end_to_end_id);
    auto response = pawl::respond(
        201, Taken{id, payment.end_to_end_id, "collected", payment.creditor_name, payment.reference}
    );
    response.headers.push_back({"Location", "/payouts/" + std::to_string(id.value)});
    return pawl::answer(response);
}

pawl::Response ShowPayout::answer(pawl::Snapshot& read, const pawl::Asked<Request>& at) {
    const auto found = pawl::query_maybe<Payout>(
        read, sql::find_payout, at.request.id, at.principal.tenant, at.principal.account
    );
    if (!found) return problem(404, "There is no such payout", "");
    return pawl::respond(200, *found);
}

}  // namespace payouts
