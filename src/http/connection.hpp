#pragma once

// Internal to the listener: needs Asio and Beast, so only listener.cpp, lane.cpp and connection.cpp
// include it.

#include "src/http/head_check.hpp"
#include "src/http/listener.hpp"

#include <boost/asio/io_context.hpp>         // tidy: allow header: for three files
#include <boost/asio/ip/tcp.hpp>             // tidy: allow header: for three files
#include <boost/beast/core/flat_buffer.hpp>  // tidy: allow header: for three files
#include <boost/beast/core/string_type.hpp>  // tidy: allow header: for three files
#include <boost/beast/http/parser.hpp>       // tidy: allow header: for three files
#include <boost/beast/http/string_body.hpp>  // tidy: allow header: for three files

#include <array>
#include <chrono>
#include <functional>
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

class HttpConnection;

// Replies given on other threads are collected here, with one wake-up of the I/O thread for all
// that wait: a store's batch releases many answers at once. Outlives the listener, as Responders
// may.
class Mailbox {
public:
    explicit Mailbox(asio::io_context& io) : io_{&io} {}
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

// What the connections of one lane share. Lives as long as any of them.
struct Shared {
    ListenerOptions options;
    Listener::Handlers handlers;
    std::shared_ptr<Mailbox> mailbox;
    std::unordered_set<std::shared_ptr<HttpConnection>> open;
    std::function<void()> on_closed;  // Another may be accepted.
    bool stopping{false};
    std::string date;  // The Date header, made once a second.
    SteadyTime date_until{};
};

// One connection: reads a request, hands it on, writes its reply, reads the next. On its
// lane's thread only.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
public:
    HttpConnection(tcp::socket socket, std::shared_ptr<Shared> shared);

    void begin();
    void answer(const Reply& reply);  // To the request in hand.
    void check_deadline(SteadyTime now);
    void stop_when_idle();
    void close();

private:
    enum class State { idle, head, body, handling, writing, draining, closed };

    // Beast asks it of each chunk, once the chunk's line is there; of the last once the trailers
    // are.
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
    bool make_head(std::string_view raw);
    void read_body();
    void on_body(boost::system::error_code error);
    std::optional<HeadProblem> check_chunk(std::uint64_t size, std::string_view extensions);
    void deliver();
    void refuse(int status, std::string_view why);
    void refuse(const Reply& reply);
    void write(const Reply& reply, bool last);
    void on_written(boost::system::error_code error);
    void drain();
    void stop_reading();
    void enter(State state, std::chrono::milliseconds limit);

    tcp::socket socket_;
    std::shared_ptr<Shared> shared_;
    State state_{State::idle};
    SteadyTime deadline_{};
    boost::beast::flat_buffer buffer_;
    std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
    CheckChunk check_chunk_{*this};
    std::optional<HeadProblem> chunk_problem_;
    std::size_t extensions_size_{0};  // Of all chunks of the request.
    RequestHead head_;
    std::string client_address_;
    bool keep_alive_{true};
    bool is_head_{false};
    bool last_{false};  // The answer being written is the last of this connection.
    std::size_t body_bytes_{0};
    SteadyTime body_since_{};
    std::string out_head_;
    std::string out_body_;
    std::unique_ptr<std::array<char, 16UL * 1024>> drained_;
};

struct Responder::Exchange {
    std::shared_ptr<Mailbox> mailbox;
    std::weak_ptr<HttpConnection> connection;
    bool answered{false};
};

}  // namespace pawl::http
