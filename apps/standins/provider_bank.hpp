#pragma once

#include <pawl/detail/session.hpp>

#include "apps/standins/provider_ledger.hpp"

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
};

struct BankRequest {
    std::string path;     // "/v1/charges"
    std::string account;  // The API key: equal keys of two accounts are different keys.
    std::string key;      // Idempotency-Key; may be empty.
    std::string id;       // Request-Id: differs between a request and its repeats.
    std::map<std::string, std::string> form;
};

struct BankAnswer {
    int status{200};
    std::string body;
    std::string key;
    bool replayed{};
    std::string original{};  // For a replay: the Request-Id of the first.
    std::chrono::milliseconds delay{0};
    bool never{};  // Never answered.
};

// An error in Stripe's form (its API reference, "Errors"); empty members are left out.
struct StripeProblem {
    int status{};
    std::string_view type;
    std::string_view code{};
    std::string_view message;
    std::string_view param{};   // The wrong parameter of the request.
    std::string_view charge{};  // card_error: the charge that failed.
    std::string_view decline_code{};
};
BankAnswer stripe_error(const StripeProblem& problem);
std::string bank_field(const BankRequest& request, const char* name);  // Empty if it is missing.
std::int64_t bank_seconds(pawl::TimePoint now);                        // Since 1970.

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
        std::string kind;  // "charge", "customer" or "refund"
        std::string id;
        std::string body;
        std::int64_t amount{};
        std::string charge;      // For a refund.
        std::size_t position{};  // For a charge: its index in charge_ids_.
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
        std::optional<Booked> booked;
    };

    void load();
    void load_line(const std::string& line);
    Outcome decide(const BankRequest& request, const Faults& faults, pawl::TimePoint now);
    Outcome customer(const BankRequest& request, pawl::TimePoint now);
    std::string customer_id(const std::string& email);
    Outcome charge(const BankRequest& request, const Faults& faults, pawl::TimePoint now);
    std::optional<Outcome> fault_of(const BankRequest& request, const Faults& faults);
    Outcome refund(const BankRequest& request, pawl::TimePoint now);
    Booked book_charge(const BankRequest& request, pawl::TimePoint now);
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
    std::unordered_map<std::string, int> tries_;  // By account and key, for one-time faults.
    std::uint64_t next_;
    std::int64_t charges_{0};
    std::int64_t refunds_{0};
    Ledger ledger_;
};

}  // namespace rides
