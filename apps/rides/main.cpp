#include <pawl/command_line.hpp>
#include <pawl/http.hpp>

#include "apps/rides/operate.hpp"
#include "apps/rides/options.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <stdexcept>
#include <string_view>

namespace {

int run_provider(const rides::ProviderOptions& options) {
    if (auto why = options.problem()) throw std::invalid_argument{*why};
    rides::Provider provider{options};
    provider.start();
    std::fprintf(
        stderr,
        "rides provider: API on port %u, mail on port %u\n",
        static_cast<unsigned>(provider.http_port()),
        static_cast<unsigned>(provider.smtp_port())
    );
    pawl::wait_for_end_signal();
    provider.stop();
    return 0;
}

int run_second_provider(const rides::SecondProviderOptions& options) {
    if (auto why = options.problem()) throw std::invalid_argument{*why};
    rides::SecondProvider provider{options};
    provider.start();
    std::fprintf(
        stderr, "rides second-provider: port %u\n", static_cast<unsigned>(provider.port())
    );
    pawl::wait_for_end_signal();
    provider.stop();
    return 0;
}

bool knows(const CLI::App& app, const std::string& command) {
    return !app.get_subcommands([&](const CLI::App* one) { return one->get_name() == command; }
    ).empty();
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view first{argc > 1 ? argv[1] : ""};
    // Before any other work: a SIGHUP of logrotate never ends a server, even during start and stop.
    if (first == "serve" || first.ends_with("provider")) pawl::block_end_signals();
    CLI::App app{"Rocket Rides: the reference service of Pawl"};
    app.require_subcommand(1);
    app.footer(
        "For operators: rides top | keys | attention | jobs | dlq | queues | schedules | servers | "
        "providers | graph | points | migrate | audit | completer | reaper | restored | reconcile "
        "| doctor | check, each with --help"
    );
    rides::ServeOptions serve;
    rides::ProviderOptions provider;
    auto* serve_command = app.add_subcommand("serve", "Serves rides until SIGTERM");
    auto* provider_command =
        app.add_subcommand("provider", "A stand-in for Stripe and for the mail server");
    rides::SecondProviderOptions second;
    auto* second_command = app.add_subcommand(
        "second-provider", "A stand-in for payment providers with other interfaces"
    );
    rides::add_second_provider(*second_command, second);
    rides::SimulateOptions simulate;
    auto* simulate_command =
        app.add_subcommand("simulate", "Books random rides as phones on a bad network do");
    rides::add_simulate(*simulate_command, simulate);
    rides::add_serve(*serve_command, serve);
    rides::add_provider(*provider_command, provider);
    auto* openapi_command = app.add_subcommand("openapi", "Prints the OpenAPI 3.1 document");
    for (auto* command : {simulate_command, serve_command, provider_command, second_command})
        rides::check_all_decimal(*command);
    app.set_version_flag("--version", "rides " PAWL_VERSION);
    if (argc > 1 && pawl::is_command(argv[1]))
        return rides::operate({argv + 1, argv + argc}, pawl::command_info(app));
    if (argc > 1 && argv[1][0] != '-' && !knows(app, argv[1])) {
        std::fprintf(stderr, "rides: there is no command \"%s\"; see rides --help\n", argv[1]);
        return 2;
    }
    try {
        app.parse(argc, argv);
        if (*serve_command) return rides::serve(serve);
        if (*simulate_command) return rides::simulate(simulate);
        if (*second_command) return run_second_provider(second);
        if (*openapi_command) return std::puts(rides::openapi().c_str()) < 0 ? 1 : 0;
        return run_provider(provider);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const std::invalid_argument& wrong) {  // An unusable option.
        std::fprintf(stderr, "rides: %s\n", wrong.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rides: %s\n", error.what());
        return 1;
    }
}
