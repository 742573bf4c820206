#pragma once

#include <pawl/lease.hpp>

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/locks/keeper.hpp"
#include "src/locks/place.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace pawl::locks {

// What Leases are: a place, and what this process holds there. Owned by the Leases and by every
// lease of them, so that they may end in any order.
class Book {
public:
    enum class Gives { fences, no_fences };
    // The clock and random outlive it.
    Book(std::unique_ptr<Place> place, Gives gives, base::Clock& clock, base::Random& random);

    std::shared_ptr<Held> try_acquire(std::string_view name, const LeaseOptions& options);
    std::shared_ptr<Held> acquire(
        std::string_view name,
        std::chrono::milliseconds wait,
        const LeaseOptions& options,
        const std::stop_token& stop
    );
    bool is_held(const Held& held) { return keeper_.is_held(held); }
    bool give_back(Held& held) noexcept;
    // Throws StoreError with why its leases don't fence, if they should.
    void check_fences();

private:
    struct Try {
        std::shared_ptr<Held> held;               // Null: it is another's,
        std::chrono::milliseconds lease_left{0};  // for so long.
    };
    Try take(std::string_view name, const std::string& holder, const LeaseOptions& options);
    void check_fences_or_give_back(std::string_view name, const std::string& holder);
    void give_back_quietly(std::string_view name, const std::string& holder) noexcept;

    std::unique_ptr<Place> place_;
    Gives gives_;
    base::Clock& clock_;
    base::Random& random_;
    std::mutex waiting_;
    std::condition_variable_any stopped_;  // Nobody tells it but a stop.
    Keeper keeper_;
};

}  // namespace pawl::locks
