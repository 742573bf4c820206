#pragma once

#include "src/base/blocking_wait.hpp"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace pawl::store {

// Combines small writes of many threads. While one batch runs, new requests gather for the next; a
// lone one runs at once (flat combining: Hendler, Incze, Shavit, Tzafrir, SPAA 2010). Thread-safe.
template <class In, class Out>
class Combiner {
public:
    // Returns one result for each request, in their order. Runs on one of the waiting threads,
    // never concurrently. What it throws, each request gets.
    using Together = std::function<std::vector<Out>(const std::vector<In>&)>;
    explicit Combiner(Together together) : together_{std::move(together)} {}

    Out run(In in) {
        std::unique_lock lock{mutex_};
        if (!next_) next_ = std::make_shared<Batch>();
        const auto mine = next_;
        const auto place = mine->in.size();
        mine->in.push_back(std::move(in));
        const auto my_turn = [&] { return mine->ended || (mine == next_ && !under_way_); };
        base::wait_for(mine->turn, lock, my_turn);
        if (!mine->ended) lead(*mine, lock);
        if (mine->failed) std::rethrow_exception(mine->failed);
        return mine->out[place];
    }

private:
    struct Batch {
        std::vector<In> in;
        std::vector<Out> out;
        std::exception_ptr failed;
        bool ended{false};
        // Notified when the batch has ended, or when one of its threads may lead it.
        std::condition_variable turn;
    };

    void lead(Batch& batch, std::unique_lock<std::mutex>& lock) {
        under_way_ = true;
        next_.reset();
        lock.unlock();
        try {
            batch.out = together_(batch.in);
        } catch (...) {
            batch.failed = std::current_exception();
        }
        lock.lock();
        under_way_ = false;
        batch.ended = true;
        batch.turn.notify_all();
        if (next_) next_->turn.notify_one();
    }

    Together together_;
    std::mutex mutex_;
    std::shared_ptr<Batch> next_;  // Gathers requests while another batch runs.
    bool under_way_{false};
};

}  // namespace pawl::store
