#include "tests/simulation/fiber.hpp"

#include <cxxabi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace pawl::simulation {

namespace {

constexpr std::size_t stack_bytes = 256 * 1'024;
thread_local Fiber* running = nullptr;
// Stacks are large and short-lived, so they are reused.
thread_local std::vector<std::unique_ptr<char[]>> spare_stacks;

// The C++ runtime's state of exceptions in flight belongs to a stack, not to the thread: two words
// (Itanium C++ ABI, 2.2.2).
using ExceptionState = std::array<std::byte, 2 * sizeof(void*)>;
ExceptionState exception_state() {
    ExceptionState state{};
    std::memcpy(state.data(), abi::__cxa_get_globals(), state.size());
    return state;
}
void set_exception_state(const ExceptionState& state) {
    std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), state.data(), state.size());
}

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_{std::move(body)} {
    if (spare_stacks.empty()) {
        stack_ = std::make_unique_for_overwrite<char[]>(stack_bytes);
    } else {
        stack_ = std::move(spare_stacks.back());
        spare_stacks.pop_back();
    }
    ::getcontext(&inside_);
    inside_.uc_stack.ss_sp = stack_.get();
    inside_.uc_stack.ss_size = stack_bytes;
    inside_.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    // makecontext() takes its arguments as ints.
    ::makecontext(
        &inside_,
        reinterpret_cast<void (*)()>(&Fiber::enter),
        2,
        static_cast<unsigned>(self >> 32U),
        static_cast<unsigned>(self & 0xFFFFFFFFU)
    );
}

Fiber::~Fiber() {
    spare_stacks.push_back(std::move(stack_));
}

void Fiber::enter(unsigned high, unsigned low) {
    auto* self = reinterpret_cast<Fiber*>((std::uintptr_t{high} << 32U) | low);
    self->body_();
    self->ended_ = true;
    ::swapcontext(&self->inside_, &self->outside_);
}

void Fiber::resume() {
    if (ended_) return;
    auto* before = std::exchange(running, this);
    const auto state = exception_state();
    set_exception_state({});  // If the fiber was handling an exception, it restores its own state.
    ::swapcontext(&outside_, &inside_);
    set_exception_state(state);
    running = before;
}

bool Fiber::yield() {
    auto* self = running;
    if (self == nullptr) return false;
    const auto state = exception_state();
    ::swapcontext(&self->inside_, &self->outside_);
    set_exception_state(state);
    return true;
}

}  // namespace pawl::simulation
