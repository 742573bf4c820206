#pragma once

#include <pawl/detail/session.hpp>

#include "src/base/clock.hpp"
#include "src/base/warning.hpp"
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

// The connections to one Redis, shared by its queues, pusher and dead letters. Every member blocks,
// is thread-safe, and throws StoreError: unavailable if Redis can't be reached, in doubt if a write
// was sent and no answer came. After either the connection is closed and the next call opens a new
// one, so no restart is needed after an outage.
class Client {
public:
    // Connects on first use. `clock` is for tests and outlives the client; without one, Redis' own
    // time is used. Each connection loads the scripts `loaded` when it opens; others are sent
    // whole. Throws std::invalid_argument with options.problem().
    explicit Client(
        Options options,
        base::Clock* clock = nullptr,
        base::OnWarning on_warning = {},
        std::span<const Script> loaded = {}
    );
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // For the start of a program: throws if Redis can't be reached, and as refused if it must not
    // be used (PAWL0011). After the start the same trouble is thrown by each call, and may pass.
    void check();

    // Throws an error reply. `what` is the name of the statement in a StoreError.
    Reply ask(std::string_view what, const Command& command, Access access, Shape shape);
    // Sends all in one packet. An error reply is returned in its place.
    std::vector<Reply> ask_all(
        std::string_view what, std::span<const Command> commands, Access access
    );
    // Throws the StoreError for an error reply, and for a reply of another shape: then the server
    // is not Redis, or a proxy has answered.
    void expect(std::string_view what, const Reply& reply, Shape shape);
    // The script's writes happen all, or none if Redis refuses it at its start.
    Reply run(const Script& script, const Command& keys, const Command& arguments);

    // Why an epoch that this Redis has given may be given again (PAWL0030), by its settings at this
    // moment; nullopt: it can't.
    std::optional<std::string> fence_problem();

    TimePoint now();
    // For scripts: milliseconds of the test's clock. Empty: the script asks Redis for the time.
    std::string given_now() const;
    const Options& options() const;

private:
    [[noreturn]] void fail(std::string_view what, const std::string& error);

    class BorrowedConnection;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::redis
