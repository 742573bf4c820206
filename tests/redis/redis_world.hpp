#pragma once

#include "src/core/fault.hpp"
#include "src/queue/redis/redis_dead_letters.hpp"
#include "src/queue/redis/redis_pusher.hpp"
#include "src/queue/redis/redis_queue.hpp"
#include "src/queue/redis/scripts.hpp"
#include "src/redis/connection.hpp"
#include "tests/redis/redis_server.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

// Helpers for the tests of the Redis queue.
namespace pawl::testing {

using namespace std::chrono_literals;
using redis::Access;

// As open_queue() makes it.
struct Client : redis::Client {
    explicit Client(
        redis::Options options, base::Clock* clock = nullptr, base::OnWarning on_warning = {}
    )
        : redis::Client{
              std::move(options), clock, std::move(on_warning), queue::sidekiq::scripts::all} {}
};

inline queue::StagedJob staged(std::string jid, std::string args = R"({"ride":1})") {
    queue::StagedJob job;
    job.id = 1;
    job.jid = std::move(jid);
    job.queue = "default";
    job.kind = "send_receipt";
    job.args = std::move(args);
    return job;
}

inline queue::PushReport push(Client& client, const queue::StagedJob& job) {
    return queue::RedisPusher{client}.push(std::span{&job, 1});
}

inline std::string long_id(int number) {
    auto digits = std::to_string(number);
    return std::string(24 - digits.size(), '0') + digits;
}

// Until core::on_fault_point(nullptr) the point throws, as if the process died there.
inline void die_at(const std::string& point) {
    core::on_fault_point([point](std::string_view name) {
        if (name == point) throw std::runtime_error{"died"};
    });
}

// The error that f throws; nullopt: none.
template <class F>
std::optional<StoreError> error_of(F f) {
    try {
        f();
    } catch (const StoreError& error) {
        return error;
    }
    return std::nullopt;
}

}  // namespace pawl::testing
