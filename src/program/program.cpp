#include <pawl/command_line.hpp>
#include <pawl/operating_options.hpp>
#include <pawl/program.hpp>

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace pawl {

namespace {

using Words = std::vector<std::string>;

// run_program() is a main().
std::ostream& out() {
    return std::cout;  // tidy: allow console: of a main()
}
std::ostream& error() {
    return std::cerr;  // tidy: allow console: of a main()
}

struct Options {
    std::string database;
    ServiceOptions service;
    HttpOptions http;
    OperatorOptions operators;
    TraceOptions traces;
    AlertOptions alerts{};
};

Options defaults_of(const Program& program) {
    auto database = program.database.empty() ? "sqlite:" + program.name + ".db" : program.database;
    auto traces = program.traces;
    if (traces.service == TraceOptions{}.service) traces.service = program.name;
    return {
        std::move(database),
        program.service,
        program.http,
        program.operators,
        std::move(traces),
        {}};
}

void add_service_options(CLI::App& app, Options& options) {
    app.add_option(
           "--database",
           options.database,
           "sqlite:FILE, or postgres://USER@HOST/DATABASE for several servers"
    )
        ->capture_default_str();
    app.add_option(
           "--queue", options.service.queue, "Where jobs go: embedded, redis://HOST or kafka://HOST"
    )
        ->capture_default_str();
    app.add_option(
        "--secret-file", options.service.secret_file, "File of the secret; default: in the database"
    );
    app.add_option(
        "--mark-file", options.service.mark_file, "File that shows a restored database (PAWL0017)"
    );
    add_keeping_options(app, options.service);
}

void add_serve_options(CLI::App& app, Options& options) {
    add_service_options(app, options);
    app.add_option("--listen", options.http.listen, "Address and port")->capture_default_str();
    app.add_option("--workers", options.service.workers, "Concurrent first tries of jobs")
        ->capture_default_str()
        ->check(CLI::Validator{check_decimal, "NUMBER"});
    app.add_option(
        "--access-log", options.http.access_log, "File of JSON lines; -: standard error"
    );
    app.add_option(
           "--trusted-proxies",
           options.http.trusted_proxies,
           "Proxies whose Forwarded and X-Forwarded-For name the client: 10.0.0.5,10.1.0.0/16"
    )
        ->delimiter(',');
    add_operating_options(app, options.operators, options.alerts, options.traces, check_decimal);
}

// The service on its database, as `serve` and the commands open it.
class Application {
public:
    Application(const Program& program, const Options& options, Database::As as)
        : database_{Database::open(options.database, as)} {
        if (as != Database::As::tool) database_->migrate(program.name, program.migrations);
        service_ = std::make_unique<Service>(*database_, options.service);
        if (program.add) program.add(*service_);
    }
    Database& database() { return *database_; }
    Service& service() { return *service_; }

private:
    std::unique_ptr<Database> database_;
    std::unique_ptr<Service> service_;
};

int serve(const Program& program, const Options& options) {
    const Alerts alerts{options.alerts};
    Application application{program, options, Database::As::server};
    if (program.prepare) program.prepare(application.database());
    const Traces traces{application.service(), options.traces};
    HttpServer server{application.service(), options.http};
    if (program.routes) program.routes(server);
    error() << program.name << ": listening on port " << server.port() << '\n';
    return run_until_signal(application.service(), server, options.operators);
}

void add_commands(CLI::App& app, Options& options) {
    auto& serve = *app.add_subcommand("serve", "Serve until SIGTERM");
    add_serve_options(serve, options);
    app.add_subcommand("openapi", "Print the OpenAPI 3.1 document");
}

std::vector<CommandInfo> own_commands(const Program& program) {
    auto options = defaults_of(program);
    CLI::App app;
    add_commands(app, options);
    return command_info(app).commands;
}

// On a database in memory, and without a server that anybody can reach.
int describe(const Program& program) {
    auto options = defaults_of(program);
    options.database = "sqlite::memory:";
    options.http.listen = "127.0.0.1:0";
    Application application{program, options, Database::As::server};
    HttpServer server{application.service(), options.http};
    if (program.routes) program.routes(server);
    out() << server.openapi(program.name, program.version) << '\n';
    return 0;
}

// The program's options may come anywhere among the command's; the command gets the rest.
int operate(const Program& program, const Words& words) {
    auto options = defaults_of(program);
    CLI::App ours{"", program.name};
    ours.set_help_flag();
    ours.allow_extras();
    add_service_options(ours, options);
    try {
        ours.parse(Words{words.rbegin(), words.rend()});
    } catch (const CLI::ParseError& wrong) {
        return ours.exit(wrong) == 0 ? 0 : 2;
    }
    const auto help = ours.help();
    const auto from = help.find("Options:");
    std::unique_ptr<Application> application;
    const CommandLine line{
        .program = program.name,
        .options_help =
            "Options of every command:\n" + help.substr(from == help.npos ? 0 : from + 9),
        .open = [&](Database::As as) -> Service& {
            if (!needs_database(words.front())) options.database = "sqlite::memory:";
            application = std::make_unique<Application>(program, options, as);
            return application->service();
        },
        .user = operator_name(),
        .own = {.options = command_info(ours).options, .commands = own_commands(program)}};
    return command_line(line, ours.remaining(), out(), error());
}

int parse_and_serve(const Program& program, const Words& words) {
    auto options = defaults_of(program);
    CLI::App app{program.summary, program.name};
    app.require_subcommand(1);
    app.footer(
        "For operators: " + program.name +
        " top | keys | attention | jobs | dlq | queues | schedules | servers | providers | "
        "graph | points | migrate | audit | completer | reaper | restored | doctor | check, each "
        "with --help"
    );
    add_commands(app, options);
    const auto first = words.empty() ? std::string{} : words.front();
    if (first != "serve" && first != "openapi" && !first.starts_with('-')) {
        error() << program.name << ": "
                << (first.empty() ? "a command is needed, such as serve"
                                  : "there is no command \"" + first + "\"")
                << "; see " << program.name << " --help\n";
        return 2;
    }
    try {
        app.parse(Words{words.rbegin(), words.rend()});
    } catch (const CLI::ParseError& wrong) {
        return app.exit(wrong) == 0 ? 0 : 2;
    }
    return app.got_subcommand("openapi") ? describe(program) : serve(program, options);
}

}  // namespace

int run_program(const Program& program, int argc, const char* const* argv) {
    const Words words{argv + (argc > 0 ? 1 : 0), argv + argc};
    const auto first = words.empty() ? std::string{} : words.front();
    // Before any other work: a SIGHUP of logrotate never ends a server, even during its start.
    if (first == "serve") block_end_signals();
    try {
        if (is_command(first) && first != "reconcile") return operate(program, words);
        return parse_and_serve(program, words);
    } catch (const std::invalid_argument& wrong) {  // An option that can't be used.
        error() << program.name << ": " << wrong.what() << '\n';
        return 2;
    } catch (const std::exception& failed) {
        error() << program.name << ": " << failed.what() << '\n';
        return 1;
    }
}

}  // namespace pawl
