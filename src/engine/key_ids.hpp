#pragma once

#include "src/store/store.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace pawl::engine {

// Ids of keys to come, taken from the store many at a time, where a claim under an id of its own
// need not wait for the answer that gives it one. Those left over at the end are nobody's: ids have
// gaps. Thread-safe; never blocks.
class KeyIds {
public:
    // The store outlives it, and what was asked of the store may come when this is gone.
    explicit KeyIds(store::Store& store);

    struct Ahead {
        std::int64_t id{};
        const Sql* claim{};  // A fence, with the id and the key's hash.
    };
    // Nothing: there are none at hand, or the store gives none.
    std::optional<Ahead> take();
    // One of them was another's: those at hand are used no more. So it is after a failover to a
    // copy of the database that was behind, and gives the same ids out again.
    void forget();
    // Whether the store is one that gives any.
    bool are_given() const;

private:
    struct Hand;
    static void ask(store::Store& store, const std::shared_ptr<Hand>& hand);

    store::Store& store_;
    std::shared_ptr<Hand> hand_;
};

}  // namespace pawl::engine
