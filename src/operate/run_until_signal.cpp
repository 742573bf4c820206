#include "src/http/run_until_signal.hpp"

#include <pawl/operator_server.hpp>

#include "src/base/log.hpp"
#include "src/base/options.hpp"

namespace pawl {

int run_until_signal(Service& service, HttpServer& server, const OperatorOptions& options) {
    // Some are wrong because there is no listener.
    (void)base::checked(options, "pawl::OperatorOptions");
    if (options.listen.empty()) return run_until_signal(service, server);
    OperatorServer operators{service, options};
    operators.start();
    log::info("operator_listening", {{"port", operators.port()}});
    return http::run_until_signal(
        service,
        server,
        {.on_started = [&] { operators.set_started(); },
         .on_signal = [&] { operators.set_stopping(); },
         .pre_stop_delay = options.pre_stop_delay}
    );
}

}  // namespace pawl
