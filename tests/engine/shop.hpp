#pragma once

#include <pawl/json.hpp>
#include <pawl/operation.hpp>
#include <pawl/service.hpp>

#include "tests/engine/world.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

// A small shop: an order is stored, the card charged, a parcel sent, and the customer answered. The
// provider is a fake whose next results the test chooses; it honours idempotency keys.
namespace pawl::testing {

struct Item {
    std::string name;
    int count{};
};
enum class Speed { slow, fast };
struct OrderRequest {
    std::string customer;
    std::vector<Item> items{};
    std::optional<Speed> speed{};
};
struct Paid {
    std::string id;
};
struct Refused402 {
    static constexpr std::string_view name = "Rejection";
    std::string why;
};
struct Sent {
    std::string parcel;
};
struct OrderJob {
    static constexpr std::string_view kind = "order_job";
    std::string customer;
};

// The provider's behaviour in one call.
enum class Does { charge, decline, retry, doubt, doubt_charged, stuck, throws };

class Provider {
public:
    void next(std::vector<Does> answers) {
        const std::lock_guard lock{mutex_};
        script_ = std::move(answers);
    }
    Outcome<Paid, Refused402> charge(const std::string& key) {
        if (before_) before_();
        const std::lock_guard lock{mutex_};
        keys.push_back(key);
        const auto does = script_.empty() ? Does::charge : script_.front();
        if (!script_.empty()) script_.erase(script_.begin());
        if (remembers_declines && declined_.contains(key)) return Refused402{"no funds"};
        const auto book = [&] {
            return charges.try_emplace(key, "ch_" + std::to_string(charges.size() + 1))
                .first->second;
        };
        switch (does) {
            case Does::charge:
                return Paid{book()};
            case Does::decline:
                declined_.insert(key);
                return Refused402{"no funds"};
            case Does::retry:
                return Retry{};
            case Does::doubt:
                return InDoubt{};
            case Does::doubt_charged:
                book();
                return InDoubt{};
            case Does::stuck:
                return Stuck{"a stored error"};
            case Does::throws:
                break;
        }
        book();
        throw std::runtime_error{"the line was cut" + not_utf8};
    }
    void before(std::function<void()> f) { before_ = std::move(f); }

    std::string target;              // Its name; empty: the operation names no target.
    bool remembers_declines{false};  // By key, as Stripe: a declined key is not charged later.
    std::map<std::string, std::string> charges;  // Bookings, by key.
    std::vector<std::string> keys;               // The key of every call, in order.

private:
    std::mutex mutex_;
    std::vector<Does> script_;
    std::set<std::string> declined_;
    std::function<void()> before_;
};

// A member of a fixture, whose world must end first: the first call waits at the provider until
// let_go is opened, later ones pass.
class FirstCallHeld {
protected:
    void hold_first_call(Provider& provider) {
        provider.before([this] {
            if (++calls_ > 1) return;
            at_call.open();
            let_go.wait();
        });
    }
    Gate at_call;
    Gate let_go;

private:
    std::atomic<int> calls_{0};
};

// The steps without Repeat and name, which several operations share.
class OrderSteps {
public:
    explicit OrderSteps(Provider& provider) : provider_{&provider} {}
    using Started = pawl::Started<OrderRequest>;
    struct Ordered {
        static constexpr std::string_view name = "ordered";
        std::string customer;
        std::vector<Item> items{};
        std::optional<Speed> speed{};
    };
    struct Charged {
        static constexpr std::string_view name = "charged";
        Ordered order{};
        std::string charge;
    };

    Next<Ordered> write_order(Tx& tx, const Started& at) {
        static constexpr Statement<2> insert{
            "insert_order", "INSERT INTO orders (key_id, customer) VALUES ($1, $2)", {}};
        execute(tx, insert, at.key_id, at.request.customer);
        if (at.request.customer == "nobody") return answer(404, std::string{"nobody"});
        if (at.request.customer == "thrower")
            throw std::runtime_error{"a bug in the first phase" + not_utf8};
        return Ordered{at.request.customer, at.request.items, at.request.speed};
    }
    Next<Charged> keep_payment(Tx& tx, const Ordered& at, const Paid& paid) {
        static constexpr Statement<1> insert{
            "insert_payment", "INSERT INTO payments (charge) VALUES ($1)", {}};
        execute(tx, insert, paid.id);
        return Charged{at, paid.id};
    }
    Finish keep_refusal(Tx&, const Ordered&, const Refused402& refused) {
        return answer(402, refused);
    }
    Finish finish(Tx& tx, const Charged& at) {
        tx.stage(OrderJob{at.order.customer});
        return answer(201, at);
    }
    Finish abandon(Tx&, const Ordered&, const Abandoned& why) {
        return answer(409, std::string{why.called_at ? "perhaps called" : "not called"});
    }
    std::string call_target(const Ordered&) const { return provider_->target; }
    Outcome<Paid, Refused402> charge(KeyedCall& call, const Ordered&) {
        return provider_->charge(call.key().text);
    }
    Outcome<Paid, Refused402> charge_once(Call&, const Ordered&) {
        return provider_->charge("call " + std::to_string(provider_->keys.size() + 1));
    }

protected:
    Provider* provider_;
};

class Order : public OrderSteps {
public:
    static constexpr std::string_view name = "order";
    using OrderSteps::OrderSteps;
    using Flow = Steps<
        Atomic<&Order::write_order>,
        Foreign<Repeat::safe_with_key, &Order::charge, &Order::keep_payment, &Order::keep_refusal>,
        Atomic<&Order::finish>>;
};

class OrderOnce : public OrderSteps {
public:
    static constexpr std::string_view name = "order_once";
    using OrderSteps::OrderSteps;
    using Flow = Steps<
        Atomic<&OrderOnce::write_order>,
        Foreign<
            Repeat::never,
            &OrderOnce::charge_once,
            &OrderOnce::keep_payment,
            &OrderOnce::keep_refusal>,
        Atomic<&OrderOnce::finish>>;
};

class PatientOrder : public Order {
public:
    static constexpr std::string_view name = "patient_order";
    static constexpr Settings settings{.in_progress = wait(std::chrono::seconds{10})};
    using Order::Order;
};

inline constexpr std::string_view shop_tables =
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, key_id INTEGER NOT NULL UNIQUE, customer TEXT "
    "NOT NULL) STRICT";
inline constexpr std::string_view payment_tables =
    "CREATE TABLE payments (id INTEGER PRIMARY KEY, charge TEXT NOT NULL UNIQUE) STRICT";

inline constexpr const char* order_of_jane =
    R"({"customer":"jane","items":[{"name":"pin","count":2},{"name":"cap","count":1}],"speed":"fast"})";

}  // namespace pawl::testing
