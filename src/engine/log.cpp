#include "src/engine/log.hpp"

#include "src/core/time_text.hpp"
#include "src/engine/clock.hpp"
#include "src/json/text.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <stdexcept>

namespace pawl::log {

namespace {

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
    std::string line =
        R"({"ts":")" + core::time_text(engine::system_clock().now()) + R"(","level":")";
    line.append(word).append(R"(","event":)");
    json::append_string(line, event);
    for (const auto& [name, value] : fields) {
        line += ',';
        json::append_string(line, name);
        line += ':';
        json::append_string(line, json::is_utf8(value) ? std::string_view{value} : "(not UTF-8)");
    }
    line += '}';
    logger()->log(level, "{}", line);
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
void remark(const core::Remark& remark) {
    if (remark.code.empty())
        warning(remark.event, {{"detail", remark.detail}});
    else
        warning(remark.event, {{"code", std::string{remark.code}}, {"detail", remark.detail}});
}

void open(const std::string& file) {
    try {
        logger() = file.empty() ? make(std::make_shared<spdlog::sinks::stderr_sink_mt>())
                                : make(std::make_shared<spdlog::sinks::basic_file_sink_mt>(file));
    } catch (const spdlog::spdlog_ex& failed) {
        throw std::runtime_error{"the log " + file + " can't be written: " + failed.what()};
    }
}

void flush() {
    logger()->flush();
}

}  // namespace pawl::log
