#include "src/engine/preallocated_ids.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/log.hpp"
#include "src/engine/failure.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace pawl::engine {

namespace {

constexpr std::size_t block = 256;  // Claims per transaction that takes ids.
constexpr std::size_t low = 128;

}  // namespace

struct PreallocatedIds::Cache {
    explicit Cache(std::optional<store::PreallocationStatements> statements) : from{statements} {}
    const std::optional<store::PreallocationStatements> from;
    std::mutex mutex;
    std::vector<std::int64_t> ids;
    std::uint64_t forgotten{0};  // Requests before this count are ignored.
    bool asking{false};
    bool refused{false};
};

PreallocatedIds::PreallocatedIds(store::Store& store)
    : store_{store}, cache_{std::make_shared<Cache>(store.preallocation())} {}

std::optional<PreallocatedIds::Preallocated> PreallocatedIds::take() {
    if (!cache_->from) return std::nullopt;
    std::optional<Preallocated> taken;
    bool asks = false;
    {
        const std::lock_guard lock{cache_->mutex};
        auto& ids = cache_->ids;
        if (!ids.empty()) {
            taken = Preallocated{ids.back(), cache_->from->claim};
            ids.pop_back();
        }
        asks = ids.size() < low && !cache_->refused && !std::exchange(cache_->asking, true);
    }
    if (asks) ask(store_, cache_);
    return taken;
}

bool PreallocatedIds::is_supported() const {
    return cache_->from.has_value();
}

void PreallocatedIds::forget() {
    const std::lock_guard lock{cache_->mutex};
    cache_->ids.clear();
    ++cache_->forgotten;
}

void PreallocatedIds::ask(store::Store& store, const std::shared_ptr<Cache>& cache) {
    std::uint64_t forgotten = 0;
    {
        const std::lock_guard lock{cache->mutex};
        forgotten = cache->forgotten;
    }
    auto got = std::make_shared<std::vector<std::int64_t>>();
    store.write(store::work(
        [cache, got](store::Session& session) {
            got->clear();
            detail::run_statement(
                session,
                *cache->from->preallocate,
                [&](const detail::Row& row) { got->push_back(row.integer(0)); },
                std::int64_t{block}
            );
        },
        [cache, got, forgotten](const std::exception_ptr& failed) {
            const std::lock_guard lock{cache->mutex};
            cache->asking = false;
            if (failed) {
                const auto failure = failure_of(failed);
                if (failure.transient || std::exchange(cache->refused, true)) return;
                log::warning("no_preallocated_ids", {{"detail", failure.rejection.detail}});
            } else if (forgotten == cache->forgotten) {
                // Reversed, as ids are taken from the back.
                cache->ids.insert(cache->ids.begin(), got->rbegin(), got->rend());
            }
        }
    ));
}

}  // namespace pawl::engine
