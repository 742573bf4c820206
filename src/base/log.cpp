#include "src/base/log.hpp"

#include "src/base/clock.hpp"
#include "src/base/error_text.hpp"
#include "src/base/json_line.hpp"
#include "src/base/log_file.hpp"
#include "src/base/repeat_limit.hpp"
#include "src/base/text.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <map>
#include <mutex>
#include <utility>
#include <variant>

namespace pawl::log {

namespace {

class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit FileSink(const std::string& file) : file_{"log", file} {}
    LogFile& file() { return file_; }

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        if (file_.append({message.payload.data(), message.payload.size()})) file_.flush();
    }
    void flush_() override { file_.flush(); }

    LogFile file_;
};

std::shared_ptr<spdlog::logger> make(spdlog::sink_ptr sink) {
    auto logger = std::make_shared<spdlog::logger>("pawl", std::move(sink));
    logger->set_pattern("%v");
    logger->flush_on(spdlog::level::warn);
    return logger;
}

std::shared_ptr<spdlog::logger>& logger() {
    static auto made = make(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    return made;
}

constexpr std::size_t subject_max = 200;

struct Level {
    spdlog::level::level_enum level;
    std::string_view word;
};
constexpr Level info_level{spdlog::level::info, "info"};
constexpr Level warning_level{spdlog::level::warn, "warning"};
constexpr Level error_level{spdlog::level::err, "error"};

// What all threads share besides the logger.
struct Shared {
    std::mutex mutex;
    base::RepeatLimit limit;
    std::map<std::string, Level> level_of;  // Of the events that `limit` knows.
    std::map<std::pair<std::string, std::string_view>, std::uint64_t> counts;  // Event and level.
    std::shared_ptr<const Sink> sink;
};
Shared& shared() {
    static Shared made;
    return made;
}

std::shared_ptr<const Sink> count_and_find_sink(const Level& level, std::string_view event) {
    const std::lock_guard lock{shared().mutex};
    ++shared().counts[{std::string{event}, level.word}];
    const auto& sink = shared().sink;
    return sink && sink->wants(event) ? sink : nullptr;
}

JsonLine line_of(const Level& level, std::string_view event) {
    JsonLine line{base::system_clock().now()};
    line.add("level", level.word).add("event", event);
    return line;
}

// nullopt: held back.
std::optional<std::int64_t> pass(
    const Level& level, std::string_view event, const std::string& subject, int burst
) {
    const std::lock_guard lock{shared().mutex};
    const std::string name{event};
    shared().level_of.try_emplace(name, level);
    // A thousand of them are remembered, and they may hold texts from outside.
    const std::string known{base::cut(subject, subject_max)};
    return shared().limit.pass({name, known}, burst, base::system_clock().steady());
}

// `repeated`: lines that were held back before; nullopt: this one is held back, too.
void write(
    const Level& level,
    std::string_view event,
    Fields fields,
    std::optional<std::int64_t> repeated = 0
) {
    const auto sink = count_and_find_sink(level, event);
    if (!repeated && !sink) return;
    auto line = line_of(level, event);
    for (const auto& [name, value] : fields) {
        if (const auto* number = std::get_if<std::int64_t>(&value.get()))
            line.add_number(name, *number);
        else
            line.add(name, std::get<std::string_view>(value.get()));
    }
    if (repeated.value_or(0) > 0) line.add_number("repeated", *repeated);
    const auto text = line.text();
    if (repeated) logger()->log(level.level, "{}", text);
    if (sink) sink->take(event, text);
}

}  // namespace

void info(std::string_view event, Fields fields) {
    write(info_level, event, fields);
}
void warning(std::string_view event, Fields fields) {
    write(warning_level, event, fields);
}
void error(std::string_view event, Fields fields) {
    write(error_level, event, fields);
}
void limited_info(std::string_view event, const std::string& subject, Fields fields, int burst) {
    write(info_level, event, fields, pass(info_level, event, subject, burst));
}
void limited_warning(std::string_view event, const std::string& subject, Fields fields, int burst) {
    write(warning_level, event, fields, pass(warning_level, event, subject, burst));
}
void limited_error(std::string_view event, Fields fields) {
    write(error_level, event, fields, pass(error_level, event, {}, burst_of_names));
}

void report_repeated(Windows windows) {
    std::vector<std::pair<Level, base::RepeatLimit::HeldBack>> ended;
    {
        const std::lock_guard lock{shared().mutex};
        auto& limit = shared().limit;
        for (auto& one : windows == Windows::all ? limit.take_all()
                                                 : limit.take_ended(base::system_clock().steady()))
            ended.emplace_back(shared().level_of.at(one.what.event), std::move(one));
    }
    for (const auto& [level, one] : ended) {
        auto line = line_of(level, one.what.event);
        if (!one.what.subject.empty()) line.add("subject", one.what.subject);
        line.add_number("repeated", one.count).add("detail", std::to_string(one.count) + " more");
        logger()->log(level.level, "{}", line.text());
    }
}

std::vector<EventCount> event_counts() {
    const std::lock_guard lock{shared().mutex};
    std::vector<EventCount> counts;
    for (const auto& [what, count] : shared().counts)
        counts.push_back({what.first, std::string{what.second}, count});
    return counts;
}

void set_sink(std::shared_ptr<const Sink> sink) {
    const std::lock_guard lock{shared().mutex};
    shared().sink = std::move(sink);
}

void warn(const base::Warning& found) {
    const auto like = base::error_kind(found.detail);
    if (found.code.empty())
        limited_warning(found.event, like, {{"detail", found.detail}}, burst_of_names);
    else
        limited_warning(
            found.event, like, {{"code", found.code}, {"detail", found.detail}}, burst_of_names
        );
}

void open(const std::string& file) {
    logger() = file.empty() ? make(std::make_shared<spdlog::sinks::stderr_sink_mt>())
                            : make(std::make_shared<FileSink>(file));
}

std::optional<std::string> reopen() {
    for (const auto& sink : logger()->sinks())
        if (auto* file = dynamic_cast<FileSink*>(sink.get())) return file->file().reopen();
    return std::nullopt;
}

void flush() {
    logger()->flush();
}

}  // namespace pawl::log
