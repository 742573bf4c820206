#pragma once

#include "docs/tutorial/accounts.hpp"
#include "docs/tutorial/bank.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace transfers {

struct WireRequest {
    std::string payer;
    std::string payee;  // An account at the other bank.
    std::int64_t cents{};

    std::optional<std::string> problem() const {
        if (cents < 1) return "cents is at least 1";
        return std::nullopt;
    }
};
struct WireState {
    std::int64_t id{};
    std::string payer;
    std::string payee;
    std::int64_t cents{};
    std::string state;
    std::string reference;
};

// Sends money to an account at another bank, which honours our keys.
class Wire {
public:
    static constexpr std::string_view name = "wire";
    // A repeat waits for the running request instead of getting 409.
    static constexpr pawl::Settings settings{.in_progress = pawl::wait(std::chrono::seconds{20})};
    explicit Wire(std::shared_ptr<Bank> bank) : bank_{std::move(bank)} {}

    using Started = pawl::Started<WireRequest>;
    struct MoneyTaken {
        static constexpr std::string_view name = "money_taken";
        std::int64_t wire{};
        WireRequest request;
    };

    pawl::Next<MoneyTaken, pawl::Refusal> take_money(pawl::Tx& tx, const Started& at) {
        const auto& [payer, payee, cents] = at.request;
        if (execute(tx, sql::take, payer, cents) == 0)
            return pawl::refuse(422, NotMade{"the payer has too little money"});
        execute(tx, sql::insert_wire, at.key_id, payer, payee, cents);
        return MoneyTaken{at.key_id, at.request};
    }
    PaymentOutcome pay(pawl::KeyedCall& call, const MoneyTaken& at) {
        return bank_->pay(call, {at.request.payee, at.request.cents});
    }
    // A repeat that would go to another bank, after a restart with another URL, is not made.
    std::string call_target(const MoneyTaken&) const { return bank_->name(); }
    pawl::Finish keep_payment(pawl::Tx& tx, const MoneyTaken& at, const Accepted& accepted) {
        execute(tx, sql::close_wire, at.wire, "paid", accepted.reference);
        return pawl::answer(201, pawl::query_one<WireState>(tx, sql::find_wire, at.wire));
    }
    pawl::Finish give_back(pawl::Tx& tx, const MoneyTaken& at, const Refused& refused) {
        execute(tx, sql::close_wire, at.wire, "returned", "");
        execute(tx, sql::give, at.request.payer, at.request.cents);
        return pawl::answer(422, NotMade{refused.why});
    }

    using Flow = pawl::Steps<
        pawl::Atomic<&Wire::take_money>,
        pawl::Foreign<
            pawl::Repeat::safe_with_key,
            &Wire::pay,
            &Wire::keep_payment,
            &Wire::give_back>>;

private:
    std::shared_ptr<Bank> bank_;  // Shared with the other operations that call it.
};
static_assert(pawl::checked<Wire>());

}  // namespace transfers
