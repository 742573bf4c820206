#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

// The log of the service, for the application's own lines: one JSON object a line, on standard
// error or in the file of `--log`. Thread-safe; may wait for the disk. Never log a key, a token or
// a body. A text that is not UTF-8 becomes "(not UTF-8)", and of a longer one 4,000 bytes are
// logged.
namespace pawl::log {

// The value of a field, a text or an integer. Borrows the text for the call that logs it.
class Value {
public:
    // Implicit, so that a list of fields reads as JSON does.
    Value(std::string_view text) : value_{text} {}
    Value(const std::string& text) : value_{std::string_view{text}} {}
    Value(const char* text) : value_{std::string_view{text}} {}
    template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>) Value(T number)
        : value_{static_cast<std::int64_t>(number)} {}

    const std::variant<std::string_view, std::int64_t>& get() const { return value_; }

private:
    std::variant<std::string_view, std::int64_t> value_;
};

struct Field {
    std::string_view name;
    Value value;
};
using Fields = std::initializer_list<Field>;

// `event` is the line's name: "ended_sessions_not_kept".
void info(std::string_view event, Fields fields = {});
void warning(std::string_view event, Fields fields = {});
void error(std::string_view event, Fields fields = {});
// For lines that an outage or an outsider repeats by the thousand: `burst` lines in ten seconds for
// each event and subject. The next line counts those that were held back ("repeated"); if none
// follows, a line of its own does.
void limited_warning(
    std::string_view event, const std::string& subject, Fields fields, int burst = 1
);
void limited_info(std::string_view event, const std::string& subject, Fields fields, int burst = 1);

// Warns of a file with secrets that every user of the machine can read (PAWL0015). `what` is what
// the line calls the file.
void warn_if_others_can_read(std::string_view what, const std::string& path);

}  // namespace pawl::log
