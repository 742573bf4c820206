#pragma once

#include <pawl/detail/session.hpp>

#include "src/base/clock.hpp"
#include "src/base/remark.hpp"
#include "src/redis/connection.hpp"
#include "src/redis/options.hpp"
#include "src/redis/reply.hpp"
#include "src/redis/script.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// The connections to one Redis, shared by its queues, its pusher and its dead letters. Every member
// blocks, may be called from any thread, and throws StoreError: unavailable where Redis can't be
// reached, in doubt where a write was sent and no answer came. After any of these the connection is
// thrown away and the next call makes a new one, so that a Redis that was away is back by itself.
class Client {
public:
    // Connects when it is first used. The clock, of tests, outlives it; without one, time is Redis'
    // own. Each connection loads the scripts `loaded` when it opens; others are sent whole. Throws
    // std::invalid_argument with options.problem().
    explicit Client(
        Options options,
        base::Clock* clock = nullptr,
        base::OnRemark on_remark = {},
        std::span<const Script> loaded = {}
    );
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // For the start of a program: throws if Redis can't be reached, and as refused if it must not
    // be used (PAWL0011). Later that is trouble like any other, which whoever runs it may end.
    void check();

    // An error that Redis answers is thrown. `what` is the statement that a StoreError names.
    Reply ask(std::string_view what, const Command& command, Access access);
    // All in one packet; an error that Redis answers stands in its place.
    std::vector<Reply> ask_all(
        std::string_view what, std::span<const Command> commands, Access access
    );
    // Throws what an error in such a place means.
    [[noreturn]] void fail(std::string_view what, const std::string& error);
    // Its writes happen all, or none where Redis refuses it before.
    Reply run(const Script& script, const Command& keys, const Command& arguments);

    // Why an epoch that this Redis has given may be given again (PAWL0030), by its settings at this
    // moment; nullopt: it can't.
    std::optional<std::string> fence_problem();

    TimePoint now();
    // For scripts: the milliseconds of the test's clock, or nothing: then they ask Redis for the
    // time.
    std::string given_now() const;
    const Options& options() const;

private:
    class Lent;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::redis
