#pragma once

#include <pawl/json.hpp>
#include <pawl/operation.hpp>
#include <pawl/router.hpp>
#include <pawl/service.hpp>

#include "tests/simulation/receiver.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

// The work of the simulated servers: an order is written, the card charged, the customer answered,
// and three jobs are staged, one for each form of a handler.
namespace pawl::simulation {

struct Asked {
    std::string who;   // Tenant and key, as the client knows them; the checks use it.
    std::string what;  // Differs in a different request under the same key.
};
// Caps are sold out: their orders are refused after they were written.
inline constexpr std::string_view sold_out = "a cap";
// Its writes and the mark that it is done commit together.
struct Pack {
    static constexpr std::string_view kind = "pack";
    std::string who;
};
// At least once, under the job's key, in a queue that may have limits. A partition for each tenant.
struct Tell {
    static constexpr std::string_view kind = "tell";
    static constexpr JobSettings settings{.queue = "mails"};
    std::string partition() const { return who.substr(0, who.find('/')); }
    std::string who;
};
// An operation: the job's id is its key.
struct Ship {
    static constexpr std::string_view kind = "ship";
    std::string who;
};

// A try of a job, as its handler sees it.
struct JobSeen {
    std::string_view kind;
    std::string id;
    std::string who;
    int attempt{};
    std::optional<std::int64_t> key_id;
};
// Called for each try; may throw what the handler then throws.
using OnJob = std::function<void(const JobSeen&)>;

class TradeSteps {
public:
    explicit TradeSteps(Receiver& bank) : bank_{&bank} {}
    using Started = pawl::Started<Asked>;
    struct Ordered {
        static constexpr std::string_view name = "ordered";
        Asked asked;
    };
    struct Charged {
        static constexpr std::string_view name = "charged";
        Asked asked;
        std::string charge;
    };

    Next<Ordered, Refusal> order(Tx& tx, const Started& at) {
        static constexpr Statement<2> insert{
            "insert_order", "INSERT INTO orders (key_id, who) VALUES ($1, $2)", {}};
        execute(tx, insert, at.key_id, at.request.who);
        if (at.request.what == sold_out) return pawl::refuse(422, at.request);
        return Ordered{at.request};
    }
    Outcome<Done, Declined> pay(KeyedCall& call, const Ordered& at) {
        return bank_->take(call.key().text, at.asked.who);
    }
    Outcome<Done, Declined> pay_once(Call&, const Ordered& at) {
        return bank_->take({}, at.asked.who);
    }
    Next<Charged> keep(Tx& tx, const Ordered& at, const Done& done) {
        static constexpr Statement<2> insert{
            "insert_payment", "INSERT INTO payments (who, charge) VALUES ($1, $2)", {}};
        execute(tx, insert, at.asked.who, done.id);
        return Charged{at.asked, done.id};
    }
    Finish refuse(Tx&, const Ordered& at, const Declined&) { return answer(402, at.asked); }
    Finish finish(Tx& tx, const Charged& at) {
        tx.stage(Pack{at.asked.who});
        tx.stage(Tell{at.asked.who});
        tx.stage(Ship{at.asked.who});
        return answer(201, at);
    }

protected:
    Receiver* bank_;
};

class Buy : public TradeSteps {
public:
    static constexpr std::string_view name = "buy";
    using TradeSteps::TradeSteps;
    using Flow = Steps<
        Atomic<&Buy::order>,
        Foreign<Repeat::safe_with_key, &Buy::pay, &Buy::keep, &Buy::refuse>,
        Atomic<&Buy::finish>>;
};

// For a bank without keys.
class BuyOnce : public TradeSteps {
public:
    static constexpr std::string_view name = "buy_once";
    using TradeSteps::TradeSteps;
    using Flow = Steps<
        Atomic<&BuyOnce::order>,
        Foreign<Repeat::never, &BuyOnce::pay_once, &BuyOnce::keep, &BuyOnce::refuse>,
        Atomic<&BuyOnce::finish>>;
};

// At one of several banks: one that remembers refusals, one that does not, nor knows keys for long,
// and one without keys. All of them can be asked.
using Banks = std::array<Receiver*, 3>;
// At all banks together.
inline std::size_t charges_of(const Banks& banks, const std::string& who) {
    std::size_t sum = 0;
    for (const auto* bank : banks)
        if (const auto at = bank->effects.find(who); at != bank->effects.end())
            sum += at->second.size();
    return sum;
}
inline bool any_stored_an_error(const Banks& banks) {
    return std::ranges::any_of(banks, [](const auto* bank) { return bank->stored_an_error; });
}
inline RouterOptions three_banks() {
    return {
        .providers = {
            {.name = "0", .ask_after = std::chrono::seconds{20}, .share = 2},
            {.name = "1",
             .key_digits = 32,
             .key_lifetime = std::chrono::hours{2},
             .remembers_refusals = false,
             .share = 1},
            {.name = "2", .again = Repeat::never, .share = 1}}};
}
class BuyRouted : public TradeSteps {
public:
    static constexpr std::string_view name = "buy_routed";
    // A person is asked soon, so that a bank that decides nothing does not fill a history.
    static constexpr Settings settings{.ask_for = std::chrono::minutes{5}};
    BuyRouted(const Banks& banks, Router& router)
        : TradeSteps{*banks[0]}, banks_{banks}, router_{&router} {}

    Routing route(const Ordered&) const { return {*router_, {100, "usd"}}; }
    Outcome<Done, Declined, TryNext<Declined>> pay_routed(RoutedCall& call, const Ordered& at) {
        const bool keyed = call.provider().again != Repeat::never;
        const auto end =
            bank(call.provider()).take(keyed ? call.key().text : std::string{}, at.asked.who);
        return std::visit(
            []<class E>(const E& one) -> Outcome<Done, Declined, TryNext<Declined>> {
                if constexpr (std::same_as<E, Declined>)
                    return TryNext<Declined>{one};
                else
                    return one;
            },
            end.value()
        );
    }
    Inquiry<Done, Declined> inquire(InquiryCall& call, const Ordered& at) {
        return bank(*call.provider()).inquire(call.key().text, at.asked.who);
    }
    using Flow = Steps<
        Atomic<&BuyRouted::order>,
        Routed<
            &BuyRouted::route,
            &BuyRouted::pay_routed,
            &BuyRouted::inquire,
            &BuyRouted::keep,
            &BuyRouted::refuse>,
        Atomic<&BuyRouted::finish>>;

private:
    Receiver& bank(const Provider& provider) const {
        return *banks_[static_cast<std::size_t>(provider.name.front() - '0')];
    }
    Banks banks_;
    Router* router_;
};

class Packs {
public:
    explicit Packs(OnJob on_job) : on_job_{std::move(on_job)} {}
    void work(Tx& tx, const Job<Pack>& job) {
        static constexpr Statement<1> insert{
            "insert_parcel", "INSERT INTO parcels (who) VALUES ($1)", {}};
        execute(tx, insert, job.args.who);
        on_job_({Pack::kind, job.id, job.args.who, job.attempt, job.key_id});
    }

private:
    OnJob on_job_;
};

class Tells {
public:
    Tells(Receiver& mail, OnJob on_job) : mail_{&mail}, on_job_{std::move(on_job)} {}
    JobResult work(KeyedCall& call, const Job<Tell>& job) {
        on_job_({Tell::kind, job.id, job.args.who, job.attempt, job.key_id});
        const auto told = mail_->take(call.key().text, job.args.who);
        if (std::holds_alternative<Done>(told.value())) return pawl::done;
        if (std::holds_alternative<Declined>(told.value())) return discard("no such address");
        throw std::runtime_error{"the mail may not have been sent"};
    }

private:
    Receiver* mail_;
    OnJob on_job_;
};

class Ships {
public:
    static constexpr std::string_view name = "ships";
    Ships(Receiver& carrier) : carrier_{&carrier} {}
    using Started = pawl::Started<Ship>;
    struct Labelled {
        static constexpr std::string_view name = "labelled";
        std::string who;
    };
    Next<Labelled> label(Tx& tx, const Started& at) {
        static constexpr Statement<1> insert{
            "insert_label", "INSERT INTO labels (who) VALUES ($1)", {}};
        execute(tx, insert, at.request.who);
        return Labelled{at.request.who};
    }
    Outcome<Done, Declined> hand_over(KeyedCall& call, const Labelled& at) {
        return carrier_->take(call.key().text, at.who);
    }
    Finish keep(Tx&, const Labelled&, const Done& done) { return answer(200, done); }
    Finish refuse(Tx&, const Labelled&, const Declined& why) { return answer(409, why); }
    using Flow = Steps<
        Atomic<&Ships::label>,
        Foreign<Repeat::safe_with_key, &Ships::hand_over, &Ships::keep, &Ships::refuse>>;

private:
    Receiver* carrier_;
};

// A bank has been asked about this subject until a person is asked, and its last answer decided
// nothing.
inline bool undecided_for_long(const Banks& banks, const std::string& who) {
    return std::ranges::any_of(banks, [&](const auto* bank) {
        return bank->undecided_for(who) >= BuyRouted::settings.ask_for;
    });
}

}  // namespace pawl::simulation
