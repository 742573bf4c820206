#include "src/base/log.hpp"

#include "tests/engine/world.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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

    warning("odd", {{"text", "a \"quote\"\n"}, {"bytes", "caf\xE9 is closed"}});
    warning("numbers", {{"small", -7}, {"large", std::uint64_t{1} << 40}, {"text", "7"}});
    warn({.event = "no_code", .code = "", .detail = "d"});
    warn({.event = "with_code", .code = "PAWL0001", .detail = "d"});
    flush();
    open("");

    const auto text = text_of(file);
    for (const std::string part :
         {R"-("text":"a \"quote\"\n","bytes":"caf? is closed"})-",
          R"-("event":"numbers","small":-7,"large":1099511627776,"text":"7"})-",
          R"-("event":"no_code","detail":"d"})-",
          R"-("event":"with_code","code":"PAWL0001","detail":"d"})-"})
        EXPECT_NE(text.find(part), text.npos) << text;
}

int count_of(const std::string& text, const std::string& part) {
    int found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
}

TEST(Log, like_lines_of_an_outage_are_counted_and_the_count_is_written) {
    const testing::TempFolder folder;
    const auto file = folder.path() / "log.jsonl";
    open(file.string());

    for (int i = 0; i < 138; ++i) limited_warning("gone", "no connection", {{"number", i}});
    limited_warning("gone", "another reason", {});
    report_repeated();  // No window is over.
    report_repeated(Windows::all);
    report_repeated(Windows::all);
    flush();
    open("");

    const auto text = text_of(file);
    EXPECT_EQ(count_of(text, R"("event":"gone","number":)"), 1) << text;
    EXPECT_NE(text.find(R"("number":0})"), text.npos) << text;
    EXPECT_EQ(count_of(text, R"("level":"warning","event":"gone")"), 3) << text;
    EXPECT_NE(
        text.find(R"("subject":"no connection","repeated":137,"detail":"137 more"})"), text.npos
    ) << text;
}

TEST(Log, the_sink_gets_what_it_wants_also_what_the_file_does_not) {
    const testing::TempFolder folder;
    const auto file = folder.path() / "log.jsonl";
    report_repeated(Windows::all);  // Other tests of the process have dead jobs, too.
    open(file.string());
    std::vector<std::string> taken;
    set_sink(std::make_shared<const Sink>(Sink{
        [](std::string_view event) { return event == "job_dead"; },
        [&](std::string_view, const std::string& line) { taken.push_back(line); }}));

    for (int i = 0; i < 25; ++i) limited_error("job_dead", {{"number", i}});
    error("other");
    set_sink(nullptr);
    error("job_dead");
    report_repeated(Windows::all);
    flush();
    open("");

    ASSERT_EQ(taken.size(), 25U);
    EXPECT_NE(taken.back().find(R"("event":"job_dead","number":24})"), std::string::npos);
    const auto text = text_of(file);
    EXPECT_EQ(count_of(text, R"("event":"job_dead","number":)"), 20) << text;
    EXPECT_NE(text.find(R"("repeated":5,"detail":"5 more"})"), text.npos) << text;
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
