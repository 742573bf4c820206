#pragma once

#include "src/base/random.hpp"
#include "src/locks/store_place.hpp"
#include "tests/simulation/time.hpp"

#include <functional>
#include <map>
#include <string>

namespace pawl::simulation {

// What stewards believe of the lease of the books: until when they have it, by the steady clock,
// which is one for all here. A dead one believes nothing.
using Beliefs = std::map<std::string, Steady>;  // By holder.

// Of one server: tries to have the lease of the books, and whoever has it writes some pages, each
// in a transaction under its fence. It renews as a keeper does, but writes on whatever becomes of
// the lease: one that was stopped over its end must be refused by the fence alone (I23).
class Steward {
public:
    using Wrong = std::function<void(const std::string& what)>;
    // All outlive it.
    Steward(
        store::Store& store, SimClock& clock, base::Random& random, Beliefs& beliefs, Wrong wrong
    )
        : store_{store},
          place_{store},
          clock_{clock},
          random_{random},
          beliefs_{beliefs},
          wrong_{std::move(wrong)} {}

    void run_once();  // On a strand; throws StoreError.

    static constexpr milliseconds ttl{20'000};

private:
    bool believes(const std::string& holder, Steady asked_at);
    void write_page(const std::string& holder, std::int64_t epoch);

    store::Store& store_;
    locks::StorePlace place_;
    SimClock& clock_;
    base::Random& random_;
    Beliefs& beliefs_;
    Wrong wrong_;
};

}  // namespace pawl::simulation
