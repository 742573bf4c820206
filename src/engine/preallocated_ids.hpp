#pragma once

#include "src/store/store.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace pawl::engine {

// Preallocated ids of keys, taken from the store many at a time: a claim under such an id need not
// wait for an answer with its id. Unused ids are lost. Thread-safe, never blocks.
class PreallocatedIds {
public:
    // The store outlives it; the store's answers may arrive after its destruction.
    explicit PreallocatedIds(store::Store& store);

    struct Preallocated {
        std::int64_t id{};
        const Sql* claim{};  // A fence, with the id and the key's hash.
    };
    // nullopt: none are cached, or the store gives none.
    std::optional<Preallocated> take();
    // Drops the cached ids, as one was already in use: after a failover to a stale copy the
    // database gives the same ids out again.
    void forget();
    // Whether the store gives ids in advance.
    bool is_supported() const;

private:
    struct Cache;
    static void ask(store::Store& store, const std::shared_ptr<Cache>& cache);

    store::Store& store_;
    std::shared_ptr<Cache> cache_;
};

}  // namespace pawl::engine
