#include "src/engine/preallocated_ids.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/log.hpp"
#include "src/engine/rejection.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace pawl::engine {

namespace {

constexpr std::size_t block = 256;  // Claims per transaction that takes ids.
constexpr std::size_t low = 128;

}  // namespace

struct PreallocatedIds::Stock {
    explicit Stock(std::optional<store::PreallocationStatements> statements) : from{statements} {}
    const std::optional<store::PreallocationStatements> from;
    std::mutex mutex;
    std::vector<std::int64_t> ids;
    std::uint64_t forgotten{0};  // Requests before this count are ignored.
    bool asking{false};
    bool refused{false};
};

PreallocatedIds::PreallocatedIds(store::Store& store)
    : store_{store}, stock_{std::make_shared<Stock>(store.preallocation())} {}

std::optional<PreallocatedIds::Preallocated> PreallocatedIds::take() {
    if (!stock_->from) return std::nullopt;
    std::optional<Preallocated> taken;
    bool asks = false;
    {
        const std::lock_guard lock{stock_->mutex};
        auto& ids = stock_->ids;
        if (!ids.empty()) {
            taken = Preallocated{ids.back(), stock_->from->claim};
            ids.pop_back();
        }
        asks = ids.size() < low && !stock_->refused && !std::exchange(stock_->asking, true);
    }
    if (asks) ask(store_, stock_);
    return taken;
}

bool PreallocatedIds::are_given() const {
    return stock_->from.has_value();
}

void PreallocatedIds::forget() {
    const std::lock_guard lock{stock_->mutex};
    stock_->ids.clear();
    ++stock_->forgotten;
}

void PreallocatedIds::ask(store::Store& store, const std::shared_ptr<Stock>& stock) {
    std::uint64_t forgotten = 0;
    {
        const std::lock_guard lock{stock->mutex};
        forgotten = stock->forgotten;
    }
    auto got = std::make_shared<std::vector<std::int64_t>>();
    store.write(store::work(
        [stock, got](store::Session& session) {
            got->clear();
            detail::run_statement(
                session,
                *stock->from->take,
                [&](const detail::Row& row) { got->push_back(row.integer(0)); },
                std::int64_t{block}
            );
        },
        [stock, got, forgotten](const std::exception_ptr& failed) {
            const std::lock_guard lock{stock->mutex};
            stock->asking = false;
            if (failed) {
                const auto failure = failure_of(failed);
                if (failure.passing || std::exchange(stock->refused, true)) return;
                log::warning("no_preallocated_ids", {{"detail", failure.refusal.detail}});
            } else if (forgotten == stock->forgotten) {
                // Reversed, as ids are taken from the back.
                stock->ids.insert(stock->ids.begin(), got->rbegin(), got->rend());
            }
        }
    ));
}

}  // namespace pawl::engine
