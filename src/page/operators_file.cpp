#include "src/page/operators_file.hpp"

#include "src/base/log.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <variant>

namespace pawl::page {

namespace {

constexpr std::size_t size_max = 256 * 1024;

// Throws std::invalid_argument.
Operators read(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code failed;
    const auto state = fs::status(path, failed);
    std::ifstream file{path, std::ios::binary};
    if (failed || !file) throw std::invalid_argument{path + " can't be read"};
    const auto others = fs::perms::group_all | fs::perms::others_all;
    if ((state.permissions() & others) != fs::perms::none)
        throw std::invalid_argument{path + " has tokens, and others may read it: chmod 600"};
    std::ostringstream text;
    text << file.rdbuf();
    if (text.str().size() > size_max) throw std::invalid_argument{path + " is over 256 KiB"};
    auto parsed = Operators::parse(text.str());
    if (const auto* wrong = std::get_if<std::string>(&parsed))
        throw std::invalid_argument{path + ": " + *wrong};
    return std::get<Operators>(std::move(parsed));
}

}  // namespace

OperatorsFile::OperatorsFile(std::string path)
    : path_{std::move(path)}, operators_{std::make_shared<const Operators>(read(path_))} {
    std::error_code failed;
    read_at_ = std::filesystem::last_write_time(path_, failed);
}

std::shared_ptr<const Operators> OperatorsFile::now() {
    std::error_code failed;
    const auto changed = std::filesystem::last_write_time(path_, failed);
    const std::lock_guard lock{mutex_};
    if (!failed && changed == read_at_) return operators_;
    read_at_ = changed;
    try {
        operators_ = std::make_shared<const Operators>(read(path_));
    } catch (const std::invalid_argument& wrong) {
        operators_ = std::make_shared<const Operators>();
        // A file that is gone is tried again with each request, and anybody can send one.
        log::limited_error("operators_file_invalid", {{"detail", wrong.what()}});
    }
    return operators_;
}

std::shared_ptr<const Operators> OperatorsFile::last_read() {
    const std::lock_guard lock{mutex_};
    return operators_;
}

}  // namespace pawl::page
