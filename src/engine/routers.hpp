#pragma once

#include "src/engine/router_impl.hpp"

#include <mutex>
#include <set>
#include <vector>

namespace pawl::engine {

// The routers that have chosen a provider in this process. Thread-safe.
class Routers {
public:
    // The router outlives the engine, as the operation that uses it.
    void add(const Router::Impl& router) {
        const std::lock_guard lock{mutex_};
        routers_.insert(&router);
    }
    std::vector<ProviderHealth> down() const {
        const std::lock_guard lock{mutex_};
        std::vector<ProviderHealth> found;
        for (const auto* router : routers_)
            for (auto& health : router->health())
                if (health.down_since) found.push_back(std::move(health));
        return found;
    }

private:
    mutable std::mutex mutex_;
    std::set<const Router::Impl*> routers_;
};

}  // namespace pawl::engine
