#pragma once

#include "src/redis/options.hpp"
#include "src/redis/reply.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Whether a command without an answer may have been carried out.
enum class Access { read, write };

// One connection, used by one thread at a time. Once a member has thrown StoreError it is of no use
// any more, as nobody knows which answer would come next.
class Connection {
public:
    // Connected, and in its database as its user. Throws StoreError (unavailable).
    explicit Connection(const Options& options);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Sends all, then reads an answer for each. An error that Redis answers is an answer. `what` is
    // the statement that a StoreError names.
    std::vector<Reply> ask(std::string_view what, std::span<const Command> commands, Access access);

    // The other side has closed it, or said something unasked: seen without a round trip, so that
    // a connection that ended while it was idle costs nobody an error.
    bool ended() const;

    // By text of a script, what Redis calls it; empty if it must be sent whole each time.
    std::string& name_of_script(std::string_view text);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Throws what an error that Redis answered means.
[[noreturn]] void throw_answer(
    std::string_view what, const std::string& error, const Options& options
);

}  // namespace pawl::redis
