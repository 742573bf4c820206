#include <pawl/command_line.hpp>
#include <pawl/database.hpp>
#include <pawl/service.hpp>

#include "apps/pawl/request.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace {

struct Options {
    std::string database;
    std::string queue{"embedded"};
};

// They may come anywhere among the command's options; the command gets the rest, --help too.
void add_options(CLI::App& app, Options& options) {
    app.set_help_flag();
    app.set_version_flag("--version", "pawl " PAWL_VERSION);
    app.allow_extras();
    app.add_option("--database", options.database, "sqlite:FILE or postgres://USER@HOST/NAME")
        ->envname("PAWL_DATABASE");
    app.add_option(
           "--queue",
           options.queue,
           "The service's: embedded, redis://HOST[:PORT][/DB] or kafka://HOST[:PORT]; for dlq"
    )
        ->envname("PAWL_QUEUE")
        ->capture_default_str();
}

std::string help_of(const CLI::App& app) {
    constexpr std::string_view heading = "Options:\n";
    const auto all = app.help();
    const auto at = all.find(heading);
    return "Options of every command:\n" +
           (at == all.npos ? all : all.substr(at + heading.size())) +
           "Without a database: pawl request METHOD URL, which sends a request and repeats it "
           "while that is safe.\n"
           "The service's own program has these commands too, and others that need its "
           "operations: "
           "completer, graph, points.\n";
}

}  // namespace

int main(int argc, char** argv) {
    // It needs no database and has its own options.
    if (argc > 1 && std::string_view{argv[1]} == "request")
        return request_command({argv + 2, argv + argc}, std::cout, std::cerr);
    Options options;
    CLI::App ours{"", "pawl"};
    add_options(ours, options);
    try {
        ours.parse(argc, argv);
    } catch (const CLI::ParseError& wrong) {
        return ours.exit(wrong) == 0 ? 0 : 2;
    }
    const auto words = ours.remaining();
    if (!words.empty() && words[0][0] != '-' && !pawl::is_command(words[0], false)) {
        std::cerr << "pawl: there is no command \"" << words[0] << "\"; see pawl --help\n";
        return 2;
    }
    std::unique_ptr<pawl::Database> database;
    std::optional<pawl::Service> service;
    const pawl::CommandLine line{
        .program = "pawl",
        .options_help = help_of(ours),
        .open = [&](pawl::Database::As as) -> pawl::Service& {
            if (options.database.empty())
                throw std::invalid_argument{
                    "the database is missing: give --database sqlite:FILE or "
                    "postgres://USER@HOST/NAME, or "
                    "PAWL_DATABASE"};
            database = pawl::Database::open(options.database, as);
            pawl::ServiceOptions of_service;
            of_service.queue = options.queue;
            service.emplace(*database, of_service);
            return *service;
        },
        .user = pawl::operator_name(),
        .knows_operations = false,
        .own = {.options = pawl::command_info(ours).options, .commands = {request_info()}}};
    return pawl::command_line(line, words, std::cout, std::cerr);
}
