#pragma once

#include <pawl/log.hpp>

#include "src/base/warning.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::log {

void warn(const base::Warning& warning);  // A warning, with its code if it has one.

// For lines that name one key or job, of which people need the first few.
constexpr int burst_of_names = 20;
void limited_error(std::string_view event, Fields fields);  // Lets such a burst through.
enum class Windows { ended, all };
// Makes the lines that count what was held back, if none followed.
void report_repeated(Windows windows = Windows::ended);

// How often each event came since the start, also those lines that were held back.
struct EventCount {
    std::string event;
    std::string level;
    std::uint64_t count{};
};
std::vector<EventCount> event_counts();

// Gets the events that it wants, also those that are held back. From any thread; quick.
struct Sink {
    std::function<bool(std::string_view event)> wants;
    std::function<void(std::string_view event, const std::string& line)> take;
};
void set_sink(std::shared_ptr<const Sink> sink);  // nullptr: none.

// "": standard error. Throws std::runtime_error, which names the file.
void open(const std::string& file);
// Opens a new file under the same name, if the open one was renamed; standard error stays. Returns
// why that failed; then the old file stays in use.
std::optional<std::string> reopen();
void flush();

}  // namespace pawl::log
