#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>

namespace pawl::simulation {

// A part of the program that waits in the middle of its functions, as a service's round does, while
// others run on the same thread.
class Fiber {
public:
    // `body` throws nothing. It begins with the first resume().
    explicit Fiber(std::function<void()> body);
    ~Fiber();  // Only when it has ended, or never begun.
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Until it yields or ends.
    void resume();
    bool ended() const { return ended_; }
    // Of the fiber that runs; false if none does.
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
