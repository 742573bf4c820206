#pragma once

#include "src/redis/options.hpp"
#include "src/redis/reply.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Whether a command without an answer may have changed data.
enum class Access { read, write };

// One connection, for one thread at a time. After a StoreError it must not be used again: the next
// reply could belong to an earlier command.
class Connection {
public:
    // Connects, authenticates and selects the database. Throws StoreError (unavailable).
    explicit Connection(const Options& options);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Sends all commands, then reads a reply for each. An error reply is returned as a reply.
    // `what` is the name of the statement in a StoreError.
    std::vector<Reply> ask(std::string_view what, std::span<const Command> commands, Access access);

    // Whether the peer has closed the connection or sent something unasked. Needs no round trip, so
    // that a connection that was closed while idle causes no error.
    bool ended() const;

    // By a script's text, the hash that Redis knows it by; empty: send the text.
    std::string& name_of_script(std::string_view text);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Throws the StoreError for an error reply.
[[noreturn]] void throw_answer(
    std::string_view what, const std::string& error, const Options& options
);

}  // namespace pawl::redis
