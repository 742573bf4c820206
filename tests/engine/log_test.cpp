#include "src/base/log.hpp"

#include "tests/engine/world.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace pawl::log {
namespace {

std::string text_of(const std::filesystem::path& file) {
    std::stringstream text;
    text << std::ifstream{file}.rdbuf();
    return text.str();
}

TEST(Log, a_line_is_json_whatever_it_contains) {
    const testing::TempFolder folder;
    const auto file = folder.path() / "log.jsonl";
    open(file.string());

    warning("odd", {{"text", "a \"quote\"\n"}, {"bytes", "\xFF"}});
    warning("numbers", {{"small", -7}, {"large", std::uint64_t{1} << 40}, {"text", "7"}});
    warn({.event = "no_code", .code = "", .detail = "d"});
    warn({.event = "with_code", .code = "PAWL0001", .detail = "d"});
    flush();
    open("");

    const auto text = text_of(file);
    for (const std::string part :
         {R"-("text":"a \"quote\"\n","bytes":"(not UTF-8)"})-",
          R"-("event":"numbers","small":-7,"large":1099511627776,"text":"7"})-",
          R"-("event":"no_code","detail":"d"})-",
          R"-("event":"with_code","code":"PAWL0001","detail":"d"})-"})
        EXPECT_NE(text.find(part), text.npos) << text;
}

TEST(Log, a_file_that_cannot_be_written_is_named) {
    const testing::TempFolder folder;
    const auto file = (folder.path() / "none" / "log.jsonl").string();
    std::filesystem::create_directory(folder.path() / "none");
    std::filesystem::create_directory(file);  // A folder of that name, as root may write anywhere.

    try {
        open(file);
        FAIL() << "it was opened";
    } catch (const std::runtime_error& failed) {
        EXPECT_NE(std::string{failed.what()}.find(file), std::string::npos);
    }
}

}  // namespace
}  // namespace pawl::log
