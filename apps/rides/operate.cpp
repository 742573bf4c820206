#include "apps/rides/operate.hpp"

#include <pawl/command_line.hpp>

#include "apps/rides/options.hpp"
#include "apps/rides/reconcile.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace rides {

int operate(const std::vector<std::string>& arguments, const pawl::CommandInfo& own) {
    // Our options may come anywhere among the command's; the command gets the rest, --help too.
    ServeOptions options;
    CLI::App ours{"", "rides"};
    ours.set_help_flag();
    ours.allow_extras();
    add_application(ours, options);
    check_all_decimal(ours);
    const auto help = "Options of every command:\n" + ours.help();
    try {
        ours.parse(std::vector<std::string>{arguments.rbegin(), arguments.rend()});
    } catch (const CLI::ParseError& wrong) {
        return ours.exit(wrong) == 0 ? 0 : 2;
    }
    std::unique_ptr<Application> application;
    const pawl::CommandLine line{
        .program = "rides",
        .options_help = help.substr(help.find("Options:") == help.npos ? 0 : help.find("Options:")),
        .open = [&](pawl::Database::As as) -> pawl::Service& {
            if (!pawl::needs_database(arguments.front())) options.database = "sqlite::memory:";
            application = std::make_unique<Application>(options, as);
            return application->service();
        },
        .user = pawl::operator_name(),
        .reconcile =
            [&](const pawl::ReconcileOptions& asked, std::ostream& out) {
                return reconcile(application->database(), application->stripe(), asked, out);
            },
        .own = {.options = pawl::command_info(ours).options, .commands = own.commands}};
    return pawl::command_line(line, ours.remaining(), std::cout, std::cerr);
}

}  // namespace rides
