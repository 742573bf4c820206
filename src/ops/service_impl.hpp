#pragma once

#include <pawl/service.hpp>

#include "src/engine/engine.hpp"
#include "src/ops/completer.hpp"
#include "src/ops/reaper.hpp"
#include "src/ops/worker.hpp"
#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_queue.hpp"

#include <thread>
#include <vector>

namespace pawl {

struct Service::Impl {
    Impl(Database& database, const ServiceOptions& given);
    ~Impl();

    void start();
    bool stop(std::chrono::milliseconds drain);
    bool wait_idle(std::chrono::milliseconds limit);
    void end_predecessors_leases();
    void count_stranded();

    ServiceOptions options;
    engine::Engine engine;
    queue::EmbeddedQueue queue;
    queue::EmbeddedDeadLetters dead_letters;
    ops::Completer completer;
    ops::Reaper reaper;
    ops::Worker worker;
    std::vector<std::jthread> threads;
    bool stopped{false};
};

}  // namespace pawl
