#pragma once

#include "src/base/waiting.hpp"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace pawl::store {

// Small writes of many threads as one. While one is under way, what others bring waits, and goes
// with the next, all of it at once; who is alone goes at once (flat combining: Hendler, Incze,
// Shavit, Tzafrir, SPAA 2010). Thread-safe.
template <class In, class Out>
class Combiner {
public:
    // As many results as there were requests, in their order. Runs on one of the threads that wait,
    // never twice at a time; what it throws, all of them get.
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
        std::condition_variable turn;  // It has ended, or one of its threads may lead it.
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
    std::shared_ptr<Batch> next_;  // Gathers while another is under way.
    bool under_way_{false};
};

}  // namespace pawl::store
