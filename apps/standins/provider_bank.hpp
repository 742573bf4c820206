#pragma once

#include <pawl/detail/session.hpp>

#include "apps/standins/provider_ledger.hpp"
#include "apps/standins/provider_problems.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rides {

using json_object = boost::json::object;

struct Faults {
    bool down{};
    bool decline{};
    std::string_view decline_code{"generic_decline"};
    std::chrono::milliseconds delay{0};
    std::chrono::milliseconds hold_lifetime{std::chrono::hours{7 * 24}};  // As for Stripe's cards.
};

struct BankRequest {
    std::string path;     // "/v1/charges", "/v1/charges/ch_1/capture"
    std::string account;  // The API key: equal keys of two accounts are different keys.
    std::string key;      // Idempotency-Key; may be empty.
    std::string id;       // Request-Id: differs between a request and its repeats.
    std::map<std::string, std::string> form;
    std::string traceparent{};  // As it came.
};

std::string bank_field(const BankRequest& request, const char* name);  // Empty if it is missing.
std::optional<std::int64_t> bank_number(const std::string& text);
std::int64_t bank_seconds(pawl::TimePoint now);  // Since 1970.

// The customers, the charges, the refunds and the remembered answers, in the ledger and in memory.
// Thread-safe.
class Bank {
public:
    struct File {
        std::string path;
        Ledger::Sync sync;
        std::uint64_t first_id{1};  // The first id in an empty ledger.
    };
    Bank(const File& file, std::chrono::seconds forget_keys_after);

    // `tell` runs after the bookings are on the disk: on the ledger's thread, or at once if there
    // were none.
    void execute(
        const BankRequest& request,
        const Faults& faults,
        pawl::TimePoint now,
        std::function<void(BankAnswer)> tell
    );
    // GET /v1/charges/{id}, /v1/customers/{id}, /v1/refunds/{id}
    BankAnswer find(const std::string& path) const;
    // GET /v1/charges, newest first: limit, starting_after, created[gte] and created[lt].
    BankAnswer list_charges(const std::map<std::string, std::string>& query) const;
    std::string summary() const;

private:
    struct Booked {
        // "charge", "customer" or "refund". Only in the ledger: "hold", an authorised charge that
        // is not captured; and its end, "capture", "void" or "expired".
        std::string kind;
        std::string id;
        std::string body;
        std::int64_t amount{};
        std::string charge;      // For a refund, and the end of a hold.
        std::size_t position{};  // For a charge: its index in charge_ids_.
    };
    enum class HoldState { open, captured, voided, expired };
    struct Hold {
        HoldState state{HoldState::open};
        std::int64_t captured{};  // The amount.
    };
    struct Remembered {
        std::string fingerprint;
        int status{};
        std::string body;
        pawl::TimePoint at{};
        bool in_progress{true};
        std::string request{};
    };
    struct Outcome {
        BankAnswer answer;
        bool remember{true};
        std::optional<Booked> booked{};
    };
    // Answers that book nothing; a repeat of the second kind is decided anew.
    static Outcome remembered(const StripeProblem& why) { return {stripe_error(why)}; }
    static Outcome passing(const StripeProblem& why) { return {stripe_error(why), false}; }

    void load();
    void load_line(const std::string& line);
    Outcome decide(const BankRequest& request, const Faults& faults, pawl::TimePoint now);
    Outcome customer(const BankRequest& request, pawl::TimePoint now);
    std::string customer_id(const std::string& email);
    Outcome charge(const BankRequest& request, const Faults& faults, pawl::TimePoint now);
    std::optional<Outcome> fault_of(const BankRequest& request, const Faults& faults);
    int try_of(const BankRequest& request) {
        return ++tries_[request.account + "\n" + request.key];
    }
    // Faults by the customer's name that book nothing and are not remembered; and those after it.
    static std::optional<Outcome> fault_before(std::string_view customer, int tries);
    static void spoil(Outcome& booked, std::string_view customer, int tries);
    // provider_holds.cpp
    Outcome capture(const BankRequest& request, const Faults& faults, pawl::TimePoint now);
    Outcome book_on(const Booked& charge, Booked change, int tries);
    std::optional<Outcome> expired(
        const Booked& charge,
        const StripeProblem& problem,
        const Faults& faults,
        pawl::TimePoint now
    );
    void keep_end_of_hold(Booked end);
    void show_hold(const Booked& charge, json_object& object) const;
    std::int64_t left_of(const Booked& charge) const;  // What can be refunded.
    bool is_open_hold(const std::string& charge) const;
    Outcome refund(const BankRequest& request, const Faults& faults, pawl::TimePoint now);
    Booked book_charge(const BankRequest& request, pawl::TimePoint now);
    void keep(Booked booked);
    void keep_charge(Booked charge);
    json_object as_it_is(const Booked& booked) const;
    std::optional<BankAnswer> known_answer(
        const BankRequest& request, const std::string& print, pawl::TimePoint now
    ) const;
    std::string line_of(const BankRequest& request, const Outcome& outcome, pawl::TimePoint now)
        const;

    mutable std::mutex mutex_;
    std::chrono::seconds forget_keys_after_;
    std::unordered_map<std::string, Remembered> keys_;
    std::unordered_map<std::string, Booked> booked_;
    std::vector<std::string> charge_ids_;                     // In booking order.
    std::unordered_map<std::string, std::int64_t> refunded_;  // By charge.
    std::unordered_map<std::string, Hold> holds_;             // By charge.
    std::unordered_map<std::string, int> tries_;  // By account and key, for one-time faults.
    std::uint64_t next_;
    std::int64_t charges_{0};
    std::int64_t refunds_{0};
    Ledger ledger_;
};

}  // namespace rides
