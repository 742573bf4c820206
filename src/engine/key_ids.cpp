#include "src/engine/key_ids.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/log.hpp"
#include "src/engine/refusal.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace pawl::engine {

namespace {

constexpr std::size_t block = 256;  // Claims per transaction that takes ids.
constexpr std::size_t low = 128;

}  // namespace

struct KeyIds::Hand {
    explicit Hand(std::optional<store::IdsAhead> statements) : from{statements} {}
    const std::optional<store::IdsAhead> from;
    std::mutex mutex;
    std::vector<std::int64_t> ids;
    std::uint64_t forgotten{0};  // Requests before this count are ignored.
    bool asking{false};
    bool refused{false};
};

KeyIds::KeyIds(store::Store& store)
    : store_{store}, hand_{std::make_shared<Hand>(store.ids_ahead())} {}

std::optional<KeyIds::Ahead> KeyIds::take() {
    if (!hand_->from) return std::nullopt;
    std::optional<Ahead> taken;
    bool asks = false;
    {
        const std::lock_guard lock{hand_->mutex};
        auto& ids = hand_->ids;
        if (!ids.empty()) {
            taken = Ahead{ids.back(), hand_->from->claim};
            ids.pop_back();
        }
        asks = ids.size() < low && !hand_->refused && !std::exchange(hand_->asking, true);
    }
    if (asks) ask(store_, hand_);
    return taken;
}

bool KeyIds::are_given() const {
    return hand_->from.has_value();
}

void KeyIds::forget() {
    const std::lock_guard lock{hand_->mutex};
    hand_->ids.clear();
    ++hand_->forgotten;
}

void KeyIds::ask(store::Store& store, const std::shared_ptr<Hand>& hand) {
    std::uint64_t forgotten = 0;
    {
        const std::lock_guard lock{hand->mutex};
        forgotten = hand->forgotten;
    }
    auto got = std::make_shared<std::vector<std::int64_t>>();
    store.write(store::work(
        [hand, got](store::Session& session) {
            got->clear();
            detail::run_statement(
                session,
                *hand->from->take,
                [&](const detail::Row& row) { got->push_back(row.integer(0)); },
                std::int64_t{block}
            );
        },
        [hand, got, forgotten](const std::exception_ptr& failed) {
            const std::lock_guard lock{hand->mutex};
            hand->asking = false;
            if (failed) {
                const auto failure = failure_of(failed);
                if (failure.passing || std::exchange(hand->refused, true)) return;
                log::warning("no_key_ids_ahead", {{"detail", failure.refusal.detail}});
            } else if (forgotten == hand->forgotten) {
                // Reversed, as ids are taken from the back.
                hand->ids.insert(hand->ids.begin(), got->rbegin(), got->rend());
            }
        }
    ));
}

}  // namespace pawl::engine
