#pragma once

#include "src/base/clock.hpp"
#include "src/base/running_code.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>

namespace pawl::ops {

using namespace std::chrono_literals;

// A handler that was told to stop, or whose next statement is refused, needs a moment to return.
inline constexpr std::chrono::milliseconds overdue_grace{2s};

// Whether it runs so far beyond its limit that it may never come back.
bool is_overdue(const base::RunningCode::Seen& code);
std::string_view name_of(base::RunningCode::Where where);
// "job 0123456789abcdef01234567", "key 17", or empty.
std::string subject_of(const base::RunningCode::Seen& code);

// Reports the application's code that does not come back, on a thread of its own which never waits
// for the database: that may be what the code holds up.
class OverdueCode {
public:
    using Seen = base::RunningCode::Seen;

    // `code` and `clock` outlive it.
    OverdueCode(base::RunningCode& code, base::Clock& clock) : code_{code}, clock_{clock} {}

    // Logs what has become overdue, and what still is after another minute. Returns how many lines.
    int run_once();
    // Each second, with `also`.
    void run(const std::stop_token& stop, const std::function<void()>& also);

private:
    base::RunningCode& code_;
    base::Clock& clock_;
    std::map<std::uint64_t, std::chrono::milliseconds> reported_;  // By number: at what age.
};

}  // namespace pawl::ops
