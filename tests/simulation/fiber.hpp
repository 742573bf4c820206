#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>

namespace pawl::simulation {

// A function that waits in the middle, such as a service's round, while others run on the same
// thread.
class Fiber {
public:
    // `body` must not throw. It begins with the first resume().
    explicit Fiber(std::function<void()> body);
    ~Fiber();  // Only when it has ended, or has never begun.
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Runs it until it yields or ends.
    void resume();
    bool ended() const { return ended_; }
    // Yields from the current fiber; false: no fiber runs.
    static bool yield();

private:
    static void enter(unsigned high, unsigned low);

    std::function<void()> body_;
    std::unique_ptr<char[]> stack_;
    ucontext_t inside_{};
    ucontext_t outside_{};
    bool ended_{false};
};

}  // namespace pawl::simulation
