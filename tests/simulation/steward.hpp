#pragma once

#include "src/base/random.hpp"
#include "src/locks/store_lease_backend.hpp"
#include "tests/simulation/time.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace pawl::simulation {

// Until when each steward believes that it holds the lease of the books, by the steady clock, which
// all share here. Dead stewards are removed.
using Beliefs = std::map<std::string, Steady>;  // By holder.

// One server's steward: tries to hold the lease of the books; the holder writes some pages, each in
// a transaction under its fence. It renews as a keeper does, but goes on writing after it lost the
// lease: then only the fence refuses the writes (I23).
class Steward {
public:
    using Wrong = std::function<void(const std::string& what)>;
    // All outlive it.
    Steward(
        store::Store& store, SimClock& clock, base::Random& random, Beliefs& beliefs, Wrong wrong
    )
        : store_{store},
          place_{locks::store_lease_backend(store)},
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
    std::unique_ptr<locks::LeaseBackend> place_;
    SimClock& clock_;
    base::Random& random_;
    Beliefs& beliefs_;
    Wrong wrong_;
};

}  // namespace pawl::simulation
