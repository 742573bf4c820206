#pragma once

#include <pawl/http.hpp>

#include <chrono>
#include <functional>

namespace pawl::http {

struct RunHooks {
    std::function<void()> on_started{};  // Both serve.
    std::function<void()> on_signal{};   // They are going to stop, after pre_stop_delay.
    std::chrono::milliseconds pre_stop_delay{0};
};

// pawl::run_until_signal() with hooks.
int run_until_signal(Service& service, HttpServer& server, const RunHooks& hooks);

}  // namespace pawl::http
