#pragma once

#include "apps/rides/serve.hpp"
#include "apps/standins/provider.hpp"
#include "apps/standins/second_provider.hpp"
#include "apps/standins/simulate.hpp"

namespace CLI {
class App;
}

// The options of the commands of `rides`.
namespace rides {

void add_application(
    CLI::App& app, ServeOptions& options
);  // The options that every command on the database needs.
void add_serve(CLI::App& app, ServeOptions& options);
void add_simulate(CLI::App& app, SimulateOptions& options);
void add_provider(CLI::App& app, ProviderOptions& options);
void add_second_provider(CLI::App& app, SecondProviderOptions& options);
// Every option of whole numbers that `app` has by now takes what pawl::check_decimal() does.
void check_all_decimal(CLI::App& app);

}  // namespace rides
