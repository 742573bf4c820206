#include "src/base/log.hpp"

#include "src/base/clock.hpp"
#include "src/base/json_line.hpp"
#include "src/base/log_file.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
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

void write(
    spdlog::level::level_enum level, std::string_view word, std::string_view event, Fields fields
) {
    JsonLine line{base::system_clock().now()};
    line.add("level", word).add("event", event);
    for (const auto& [name, value] : fields) {
        if (const auto* number = std::get_if<std::int64_t>(&value.get()))
            line.add_number(name, *number);
        else
            line.add(name, std::get<std::string_view>(value.get()));
    }
    logger()->log(level, "{}", line.text());
}

}  // namespace

void info(std::string_view event, Fields fields) {
    write(spdlog::level::info, "info", event, fields);
}
void warning(std::string_view event, Fields fields) {
    write(spdlog::level::warn, "warning", event, fields);
}
void error(std::string_view event, Fields fields) {
    write(spdlog::level::err, "error", event, fields);
}
void warn(const base::Warning& found) {
    if (found.code.empty())
        warning(found.event, {{"detail", found.detail}});
    else
        warning(found.event, {{"code", found.code}, {"detail", found.detail}});
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
