#pragma once

// Internal to the listener: needs Asio and Beast, so only listener.cpp, io_thread.cpp and
// connection.cpp include it.

#include "src/http/address_prefix.hpp"
#include "src/http/body_budget.hpp"
#include "src/http/head_check.hpp"
#include "src/http/listener.hpp"
#include "src/http/trusted_proxies.hpp"

#include <boost/asio/io_context.hpp>         // tidy: allow header: for three files
#include <boost/asio/ip/tcp.hpp>             // tidy: allow header: for three files
#include <boost/beast/core/flat_buffer.hpp>  // tidy: allow header: for three files
#include <boost/beast/core/string_type.hpp>  // tidy: allow header: for three files
#include <boost/beast/http/parser.hpp>       // tidy: allow header: for three files
#include <boost/beast/http/string_body.hpp>  // tidy: allow header: for three files

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

namespace pawl::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using SteadyTime = std::chrono::steady_clock::time_point;
inline SteadyTime steady_now() {
    return std::chrono::steady_clock::now();  // tidy: allow clock: time-outs of sockets
}

class HttpConnection;

// Collects replies from other threads, with one wake-up of the I/O thread for all that wait: a
// store's batch releases many responses at once. Outlives the listener, because Responders may.
class ReplyQueue {
public:
    explicit ReplyQueue(asio::io_context& io) : io_{&io} {}
    void put(std::weak_ptr<HttpConnection> to, Reply reply);
    void close();
    void set_thread(std::thread::id id) { thread_ = id; }
    bool on_thread() const { return std::this_thread::get_id() == thread_; }

private:
    void deliver();

    std::mutex mutex_;
    asio::io_context* io_;  // Null once the listener is gone.
    std::thread::id thread_{};
    std::vector<std::pair<std::weak_ptr<HttpConnection>, Reply>> replies_;
};

// The order in which connections are closed to make room for a new one. A connection whose request
// is being handled is never closed for that.
enum class EvictionClass { idle, unready, slow, never };
inline constexpr std::size_t spare_kinds = 3;

// The connections of one io_thread by kind, each in the order in which they became so. The times
// are published, so that the acceptor finds the oldest of all io_threads without a lock.
class WaitingConnections {
public:
    using Connections = std::list<HttpConnection*>;
    using Place = Connections::iterator;
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

    Place add(HttpConnection& connection);  // As EvictionClass::never.
    void move(Place place, EvictionClass from, EvictionClass to);
    void remove(Place place, EvictionClass from);
    HttpConnection* longest(EvictionClass kind) const;
    // When the longest wait began, as a steady clock's count; from any thread.
    std::int64_t longest_since(EvictionClass kind) const { return since_.at(index(kind)); }

private:
    static std::size_t index(EvictionClass kind) { return static_cast<std::size_t>(kind); }
    void publish(EvictionClass kind);

    std::array<Connections, spare_kinds + 1> by_kind_;
    std::array<std::atomic<std::int64_t>, spare_kinds> since_{none, none, none};
};

// State that the connections of one io_thread share. Lives as long as any of them.
struct Shared {
    ListenerOptions options;
    Listener::Handlers handlers;
    std::shared_ptr<ReplyQueue> mailbox;
    std::shared_ptr<BodyBudget> bodies;  // Shared by all io_threads.
    TrustedProxies proxies;
    std::unordered_set<std::shared_ptr<HttpConnection>> open;
    WaitingConnections waiting;
    std::function<void(AddressPrefix)>
        on_closed;  // Called when room for another connection is free.
    bool stopping{false};
    std::string date;  // The Date header's value, made once a second.
    SteadyTime date_until{};
};

// One connection: reads a request, passes it on, writes its reply, reads the next. On its
// io_thread's thread only.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
public:
    HttpConnection(tcp::socket socket, AddressPrefix address, std::shared_ptr<Shared> shared);

    void begin();
    void answer(const Reply& reply);  // To the request in flight.
    void check_deadline(SteadyTime now);
    void stop_when_idle();
    void close();
    SteadyTime state_since() const { return state_since_; }

private:
    enum class State { idle, head, continuing, body, handling, writing, draining, closed };

    // Beast calls it for each chunk after the chunk's line, and for the last chunk after the
    // trailers.
    struct CheckChunk {
        HttpConnection& connection;
        void operator()(
            std::uint64_t size,
            boost::beast::string_view extensions,
            boost::system::error_code& error
        );
    };

    void read_more();
    void on_bytes();
    void on_head(std::size_t size);
    bool make_head();
    std::optional<HeadProblem> check_body_size(std::size_t length);
    void write_continue();
    void begin_body();
    void extend_body_deadline(std::size_t bytes);
    void read_body();
    void on_body(boost::system::error_code error);
    std::optional<HeadProblem> check_chunk(std::uint64_t size, std::string_view extensions);
    void deliver();
    void refuse(int status, std::string_view why);
    void refuse(const Reply& reply);
    void write(const Reply& reply, bool last);
    void on_written(boost::system::error_code error);
    void drain();
    static EvictionClass eviction_class_of(State state);
    void enter(State state, std::chrono::milliseconds limit);

    tcp::socket socket_;
    std::shared_ptr<Shared> shared_;
    AddressPrefix address_;
    State state_{State::idle};
    EvictionClass eviction_class_{EvictionClass::never};
    WaitingConnections::Place place_;
    SteadyTime state_since_{};
    SteadyTime deadline_{};
    boost::beast::flat_buffer buffer_;
    std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
    CheckChunk check_chunk_{*this};
    std::optional<HeadProblem> chunk_problem_;
    std::size_t chunk_padding_{0};  // Padding in the lines of all chunks of the request.
    RequestHead head_;
    Listener::Accepted accepted_;  // What serves the request after its body.
    std::string peer_address_;
    bool served_{false};  // At least one request.
    bool keep_alive_{true};
    bool is_head_{false};
    bool last_{false};  // The response being written is the last of this connection.
    BodyCharge body_charge_;
    std::string out_head_;
    std::string out_body_;
    std::unique_ptr<std::array<char, 16UL * 1024>> drained_;
};

struct Responder::Exchange {
    std::shared_ptr<ReplyQueue> mailbox;
    std::weak_ptr<HttpConnection> connection;
    BodyCharge body_charge;
    bool answered{false};
};

}  // namespace pawl::http
