#include "docs/tutorial/wire.hpp"

// Tutorial, chapter 3: a bank that knows no keys, and a payment in doubt.
namespace transfers {

class WireOnce {
public:
    static constexpr std::string_view name = "wire_once";
    static constexpr pawl::Settings settings{.in_progress = pawl::wait(std::chrono::seconds{20})};
    explicit WireOnce(std::shared_ptr<Bank> bank) : bank_{std::move(bank)} {}

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
    PaymentOutcome pay(pawl::Call& call, const MoneyTaken& at) {
        return bank_->pay_once(call, {at.request.payee, at.request.cents});
    }
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
        pawl::Atomic<&WireOnce::take_money>,
        pawl::Foreign<
            pawl::Repeat::never,
            &WireOnce::pay,
            &WireOnce::keep_payment,
            &WireOnce::give_back>>;

private:
    std::shared_ptr<Bank> bank_;  // Shared with the other operations that call it.
};
static_assert(pawl::checked<WireOnce>());

}  // namespace transfers

int main(int argc, char** argv) {
    using namespace transfers;
    return pawl::run_program(
        {.name = "transfers",
         .summary = "Sends money to a bank that knows no keys",
         .migrations = sql::migrations::all,
         .add = [](pawl::Service& service
                ) { service.add(WireOnce{std::make_shared<HttpBank>(bank_url())}); },
         .routes =
             [](pawl::HttpServer& server) {
                 server.post<WireOnce>("/wires");
                 server.get("/accounts/{name}", ShowAccount{});
             },
         .prepare = [](pawl::Database& database) { database.write(&open_accounts); },
         // A person has 30 s to take a decision back. Here the reader does not wait so long.
         .service = {.settle_after = std::chrono::seconds{3}},
         .http = {.anonymous = true}},
        argc,
        argv
    );
}
