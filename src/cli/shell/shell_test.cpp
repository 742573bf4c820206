#include "src/cli/shell/completion.hpp"
#include "src/cli/shell/manual.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>

#include <cstdint>
#include <string>

namespace pawl::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Options {
    std::string status;
    std::optional<std::int64_t> id;
    bool all{};
};

CommandInfo shop(Options& options) {
    CLI::App app{"A shop's tool", "shop"};
    auto* keys = app.add_subcommand("keys", "Keys: list");
    auto* list = keys->add_subcommand("list", "Newest first; don't wait");
    list->add_option("id", options.id, "Its number");
    list->add_option("--status", options.status, "open or finished")
        ->check(CLI::IsMember({"open", "finished"}));
    list->add_option_group("more")->add_flag("-a,--all", options.all, "All of them");
    return command_info(app);
}

TEST(CommandInfo, has_what_the_program_declares) {
    Options options;
    const auto info = shop(options);

    ASSERT_EQ(info.commands.size(), 1U);
    const auto& list = info.commands[0].commands.at(0);
    EXPECT_EQ(list.name, "list");
    ASSERT_EQ(list.options.size(), 4U);
    EXPECT_THAT(list.options[0].names, ElementsAre("-h", "--help"));
    EXPECT_FALSE(list.options[0].takes_value);
    EXPECT_TRUE(list.options[1].positional);
    EXPECT_THAT(list.options[1].choices, IsEmpty());
    EXPECT_THAT(list.options[2].names, ElementsAre("--status"));
    EXPECT_THAT(list.options[2].choices, ElementsAre("open", "finished"));
    EXPECT_THAT(list.options[3].names, ElementsAre("-a", "--all"));
    EXPECT_FALSE(list.options[3].takes_value);
}

TEST(Completion, each_shell_gets_commands_options_and_choices) {
    Options options;
    const auto info = shop(options);

    for (const auto& script :
         {bash_completion(info), zsh_completion(info), fish_completion(info)}) {
        EXPECT_THAT(script, HasSubstr("/keys/list"));
        EXPECT_THAT(script, HasSubstr("open"));
        EXPECT_THAT(script, HasSubstr("all"));
    }
    EXPECT_THAT(bash_completion(info), HasSubstr("complete -o default -F _shop shop\n"));
    EXPECT_THAT(zsh_completion(info), HasSubstr("#compdef shop\n"));
    EXPECT_THAT(fish_completion(info), HasSubstr("complete -c shop "));
}

TEST(Manual, text_that_roff_reads_as_commands_is_escaped) {
    CommandInfo info{.name = "shop", .text = "a tool"};
    info.commands.push_back({.name = "x", .text = ".SH is \\fB and --all"});

    const auto page = manual_page(info);

    EXPECT_THAT(page, HasSubstr("\n\\&.SH is \\efB and \\-\\-all\n"));
    EXPECT_THAT(page, Not(HasSubstr("\n.SH is")));
}

TEST(Manual, a_shared_option_is_listed_once) {
    CommandInfo info{.name = "shop", .text = "a tool"};
    const CommandOption shared{.names = {"--database"}, .text = "Where", .shared = true};
    info.options = {shared};
    info.commands.push_back({.name = "x", .text = "X", .options = {shared}});

    const auto page = manual_page(info);

    EXPECT_EQ(page.find("database"), page.rfind("database"));
}

}  // namespace
}  // namespace pawl::cli
