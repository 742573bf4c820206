#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace pawl::http {

// The bytes of all request bodies that a listener holds. Shared by its connections and by requests
// in flight, which may outlive it. From any thread.
class BodyBudget {
public:
    explicit BodyBudget(std::size_t bytes) : left_{bytes} {}

    bool has(std::size_t bytes) const { return left_.load(std::memory_order_relaxed) >= bytes; }
    bool take(std::size_t bytes) {
        auto left = left_.load(std::memory_order_relaxed);
        while (left >= bytes)
            if (left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed))
                return true;
        return false;
    }
    void give_back(std::size_t bytes) { left_.fetch_add(bytes, std::memory_order_relaxed); }

private:
    std::atomic<std::size_t> left_;
};

// The part of the budget that one body uses; the destructor gives it back.
class BodyCharge {
public:
    BodyCharge() = default;
    explicit BodyCharge(std::shared_ptr<BodyBudget> budget) : budget_{std::move(budget)} {}
    BodyCharge(BodyCharge&& other) noexcept
        : budget_{std::move(other.budget_)}, bytes_{std::exchange(other.bytes_, 0)} {}
    BodyCharge& operator=(BodyCharge&& other) noexcept {
        std::swap(budget_, other.budget_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~BodyCharge() {
        if (budget_) budget_->give_back(bytes_);
    }

    // The body has grown to `bytes`; false: the budget is used up.
    bool grow_to(std::size_t bytes) {
        if (bytes <= bytes_) return true;
        if (!budget_->take(bytes - bytes_)) return false;
        bytes_ = bytes;
        return true;
    }

private:
    std::shared_ptr<BodyBudget> budget_;  // Shared with the listener and its other bodies.
    std::size_t bytes_{0};
};

}  // namespace pawl::http
