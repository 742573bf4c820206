#pragma once

#include "src/store/store.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

namespace pawl::testing {

// Passes everything on to the session that it wraps, which outlives it.
class PassingSession : public store::Session {
public:
    explicit PassingSession(store::Session& inner) : inner_{inner} {}
    std::int64_t run(
        const Sql& statement,
        std::span<const store::Value> parameters,
        detail::FunctionRef<void(const store::Row&)> each
    ) override {
        return inner_.run(statement, parameters, each);
    }
    void send(const Sql& statement, std::span<const store::Value> parameters) override {
        inner_.send(statement, parameters);
    }
    void fence(const Sql& statement, std::span<const store::Value> parameters) override {
        inner_.fence(statement, parameters);
    }
    void set_lock_timeout(std::chrono::milliseconds patience) override {
        inner_.set_lock_timeout(patience);
    }
    void lock_name(std::string_view name, std::int64_t number, std::chrono::milliseconds patience)
        override {
        inner_.lock_name(name, number, patience);
    }
    bool try_lock_name(std::int64_t number) override { return inner_.try_lock_name(number); }
    void run_script(const Sql& script) override { inner_.run_script(script); }
    void savepoint() override { inner_.savepoint(); }
    void roll_back_to() override { inner_.roll_back_to(); }
    void release() override { inner_.release(); }
    TimePoint now() override { return inner_.now(); }

protected:
    ~PassingSession() = default;

    store::Session& inner_;
};

}  // namespace pawl::testing
