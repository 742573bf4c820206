#include "src/http/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>

namespace pawl::http {

namespace beast_http = boost::beast::http;
using boost::system::error_code;

namespace {

std::string_view view(const boost::beast::flat_buffer& buffer) {
    const auto data = buffer.data();
    return {static_cast<const char*>(data.data()), data.size()};
}

bool has_bare_lf(std::string_view bytes) {
    for (auto at = bytes.find('\n'); at != bytes.npos; at = bytes.find('\n', at + 1))
        if (at == 0 || bytes[at - 1] != '\r') return true;
    return false;
}

// The unread bytes that a connection may hold: a whole head and a piece of a body. This also limits
// an endless chunk extension.
std::size_t unread_max(const HttpLimits& limits) {
    return limits.line_max + limits.headers_max + 128UL * 1024;
}

constexpr HeadProblem no_room_for_bodies{
    503, "The bodies of other requests use all memory that is reserved for bodies."};

// How long the rest of a request is read after its connection's last response.
constexpr std::chrono::seconds drain_max{2};

// How much of its buffer an idle connection may keep.
constexpr std::size_t kept_capacity = 16UL * 1024;
// How long a listener that stops waits for the first request of a connection.
constexpr std::chrono::milliseconds first_request_max{250};

// RFC 9110, 2.5: a higher minor version is served as the highest known one; Beast refuses it.
void serve_as_http_1_1(boost::beast::flat_buffer& buffer, std::string_view head) {
    const auto minor = head.find("\r\n") - 1;
    if (head[minor] > '1') static_cast<char*>(buffer.data().data())[minor] = '1';
}

bool is_hex_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// The bytes of a chunk's line beyond its size in the shortest form. `extensions` is the part of
// `bytes` right after the size.
std::size_t padding_of(std::uint64_t size, std::string_view extensions, std::string_view bytes) {
    const char* begin = extensions.data();
    while (begin != bytes.data() && is_hex_digit(begin[-1])) --begin;
    const auto digits = static_cast<std::size_t>(extensions.data() - begin);
    std::size_t needed = 1;
    while (size >>= 4U) ++needed;
    return extensions.size() + (digits > needed ? digits - needed : 0);
}

// RFC 9110, 10.1.1: case does not count.
bool expects_continue(const RequestHead& head) {
    const auto expected = head.header("Expect");
    return expected && boost::beast::iequals(*expected, "100-continue");
}

}  // namespace

void ReplyQueue::put(std::weak_ptr<HttpConnection> to, Reply reply) {
    if (on_thread()) {
        if (auto connection = to.lock()) connection->answer(reply);
        return;
    }
    const std::lock_guard lock{mutex_};
    if (io_ == nullptr) return;
    replies_.emplace_back(std::move(to), std::move(reply));
    if (replies_.size() == 1) asio::post(*io_, [this] { deliver(); });
}

void ReplyQueue::close() {
    const std::lock_guard lock{mutex_};
    io_ = nullptr;
    replies_.clear();
}

void ReplyQueue::deliver() {
    std::vector<std::pair<std::weak_ptr<HttpConnection>, Reply>> replies;
    {
        const std::lock_guard lock{mutex_};
        replies.swap(replies_);
    }
    for (auto& [to, reply] : replies)
        if (auto connection = to.lock()) connection->answer(reply);
}

WaitingConnections::Place WaitingConnections::add(HttpConnection& connection) {
    auto& connections = by_kind_.at(index(EvictionClass::never));
    return connections.insert(connections.end(), &connection);
}

void WaitingConnections::move(Place place, EvictionClass from, EvictionClass to) {
    auto& connections = by_kind_.at(index(to));
    connections.splice(connections.end(), by_kind_.at(index(from)), place);
    publish(from);
    publish(to);
}

void WaitingConnections::remove(Place place, EvictionClass from) {
    by_kind_.at(index(from)).erase(place);
    publish(from);
}

HttpConnection* WaitingConnections::longest(EvictionClass kind) const {
    const auto& connections = by_kind_.at(index(kind));
    return connections.empty() ? nullptr : connections.front();
}

void WaitingConnections::publish(EvictionClass kind) {
    if (kind == EvictionClass::never) return;
    const auto* first = longest(kind);
    since_.at(index(kind))
        .store(
            first == nullptr ? none : first->state_since().time_since_epoch().count(),
            std::memory_order_relaxed
        );
}

HttpConnection::HttpConnection(
    tcp::socket socket, AddressPrefix address, std::shared_ptr<Shared> shared
)
    : socket_{std::move(socket)},
      shared_{std::move(shared)},
      address_{address},
      place_{shared_->waiting.add(*this)},
      buffer_{unread_max(shared_->options.limits)} {
    error_code ignored;
    socket_.set_option(tcp::no_delay{true}, ignored);
    const auto peer = socket_.remote_endpoint(ignored).address().to_string();
    peer_address_ = plain_address(peer).value_or(peer);
}

EvictionClass HttpConnection::eviction_class_of(State state) {
    switch (state) {
        case State::idle:
            return EvictionClass::idle;
        case State::head:
        case State::draining:
            return EvictionClass::unready;
        case State::continuing:
        case State::body:
        case State::writing:
            return EvictionClass::slow;
        case State::handling:
        case State::closed:
            break;
    }
    return EvictionClass::never;
}

void HttpConnection::enter(State state, std::chrono::milliseconds limit) {
    state_ = state;
    state_since_ = steady_now();
    deadline_ = limit.count() > 0 ? state_since_ + limit : SteadyTime::max();
    const auto from = std::exchange(eviction_class_, eviction_class_of(state));
    shared_->waiting.move(place_, from, eviction_class_);
}

// Begins the next request, whose first bytes may be here already.
void HttpConnection::begin() {
    parser_.reset();
    chunk_problem_.reset();
    chunk_padding_ = 0;
    is_head_ = false;
    head_ = {};
    head_.client_address = head_.peer_address = peer_address_;  // For an early refusal.
    body_charge_ = {};
    if (buffer_.size() == 0) {
        if (shared_->stopping) return close();
        if (buffer_.capacity() > kept_capacity) buffer_.shrink_to_fit();
        enter(State::idle, shared_->options.limits.idle_timeout);
        return read_more();
    }
    enter(State::head, shared_->options.limits.header_timeout);
    on_bytes();
}

void HttpConnection::read_more() {
    socket_.async_read_some(
        buffer_.prepare(8UL * 1024),
        [self = shared_from_this()](error_code error, std::size_t size) {
            if (self->state_ != State::idle && self->state_ != State::head)
                return;  // It has timed out.
            if (error) return self->close();
            self->buffer_.commit(size);
            if (self->state_ == State::idle)
                self->enter(State::head, self->shared_->options.limits.header_timeout);
            self->on_bytes();
        }
    );
}

void HttpConnection::on_bytes() {
    while (buffer_.size() >= 2 && view(buffer_).substr(0, 2) == "\r\n")
        buffer_.consume(2);  // RFC 9112, 2.2
    const auto bytes = view(buffer_);
    const auto& limits = shared_->options.limits;
    is_head_ = bytes.starts_with("HEAD ");  // No body in the response, even to a malformed one.
    const auto end = bytes.find("\r\n\r\n");
    const auto line_end = std::min(bytes.find('\n'), bytes.size());
    if (line_end > limits.line_max + 1)
        return refuse(414, "The request line is longer than is allowed.");
    const auto head_size = end == bytes.npos ? bytes.size() : end + 4;
    if (head_size - line_end > limits.headers_max)
        return refuse(431, "The headers are larger than is allowed.");
    if (end != bytes.npos) return on_head(end + 4);
    // A head with a bare LF is refused at once: such a client would otherwise wait for its
    // time-out.
    if (has_bare_lf(bytes)) return refuse(400, "A line ends with a bare LF.");
    read_more();
}

void HttpConnection::on_head(std::size_t size) {
    const auto raw = view(buffer_).substr(0, size);
    const auto& limits = shared_->options.limits;
    if (const auto problem = check_head(raw, limits)) return refuse(problem->status, problem->why);
    serve_as_http_1_1(buffer_, raw);
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(limits.line_max + limits.headers_max + 1024));
    parser_->body_limit(limits.body_max);
    parser_->on_chunk_header(check_chunk_);
    error_code error;
    const auto consumed = parser_->put(asio::buffer(raw.data(), raw.size()), error);
    if (error && error != beast_http::error::need_more) {
        if (error != beast_http::error::body_limit) return refuse(400, "The head is malformed.");
        make_head();  // For the log: all of it is there.
        return refuse(413, "The body is larger than is allowed.");
    }
    if (!make_head()) return refuse(400, "The path has a broken escape.");
    keep_alive_ = parser_->keep_alive();  // The message reads the first Connection header only.
    buffer_.consume(consumed);
    const auto length = parser_->content_length().value_or(0);
    if (length > limits.body_max) return refuse(413, "The body is larger than is allowed.");
    auto decision = shared_->handlers.on_head(head_);
    if (const auto* refused = std::get_if<Reply>(&decision)) return refuse(*refused);
    accepted_ = std::get<Listener::Accepted>(std::move(decision));
    served_ = true;
    // RFC 9112, 6.3: a request without a length and without chunks has no body.
    if (length == 0 && !parser_->chunked()) return deliver();
    if (const auto problem = check_body_size(length)) return refuse(problem->status, problem->why);
    if (expects_continue(head_) && parser_->get().version() >= 11 && buffer_.size() == 0)
        return write_continue();
    begin_body();
}

std::optional<HeadProblem> HttpConnection::check_body_size(std::size_t length) {
    const auto limit = shared_->options.limits.body_max;
    const auto body_max = std::min(limit, accepted_.body_max.value_or(limit));
    if (length > body_max) return HeadProblem{413, "The body is larger than is allowed here."};
    // A chunked body has at least one byte.
    if (!shared_->bodies->has(std::max<std::size_t>(length, 1))) return no_room_for_bodies;
    parser_->body_limit(body_max);  // For all chunks together.
    return std::nullopt;
}

// Asynchronous although it is 25 bytes: the peer may have left so many responses unread that the
// send buffer is full. The body is read afterwards, so that there is one deadline at a time.
void HttpConnection::write_continue() {
    static constexpr std::string_view interim = "HTTP/1.1 100 Continue\r\n\r\n";
    enter(State::continuing, shared_->options.limits.write_timeout);
    asio::async_write(
        socket_,
        asio::buffer(interim),
        [self = shared_from_this()](error_code error, std::size_t) {
            if (self->state_ != State::continuing) return;  // It has timed out.
            if (error) return self->close();
            self->begin_body();
        }
    );
}

void HttpConnection::begin_body() {
    const auto& limits = shared_->options.limits;
    body_charge_ = BodyCharge{shared_->bodies};
    enter(State::body, limits.body_rate_min > 0 ? limits.body_grace : std::chrono::milliseconds{});
    read_body();
}

// Each byte extends the deadline by its time at the slowest rate, but never beyond the grace: bytes
// that came fast must not let the rest come slowly (issue 16, number 5).
void HttpConnection::extend_body_deadline(std::size_t bytes) {
    const auto& limits = shared_->options.limits;
    if (limits.body_rate_min == 0) return;
    const std::chrono::duration<double> bought{
        static_cast<double>(bytes) / static_cast<double>(limits.body_rate_min)};
    deadline_ = std::min(
        deadline_ + std::chrono::duration_cast<SteadyTime::duration>(bought),
        steady_now() + limits.body_grace
    );
}

bool HttpConnection::make_head() {
    const auto& message = parser_->get();
    head_.method = std::string{message.method_string()};
    for (const auto& field : message)
        head_.headers.push_back({std::string{field.name_string()}, std::string{field.value()}});
    head_.client_address = shared_->proxies.client_address(peer_address_, head_.headers);
    const auto target = message.target();
    head_.target = origin_form({target.data(), target.size()}).value_or("*");
    const auto question = std::min(head_.target.find('?'), head_.target.size());
    auto path = decode_path(std::string_view{head_.target}.substr(0, question));
    if (!path) return false;
    head_.path = std::move(*path);
    if (question < head_.target.size()) head_.query = head_.target.substr(question + 1);
    is_head_ = head_.method == "HEAD";
    return true;
}

void HttpConnection::read_body() {
    beast_http::async_read_some(
        socket_,
        buffer_,
        *parser_,
        [self = shared_from_this()](error_code error, std::size_t size) {
            if (self->state_ != State::body) return;
            self->extend_body_deadline(size);
            self->on_body(error);
        }
    );
}

void HttpConnection::CheckChunk::operator()(
    std::uint64_t size, boost::beast::string_view extensions, error_code& error
) {
    connection.chunk_problem_ =
        connection.check_chunk(size, {extensions.data(), extensions.size()});
    if (connection.chunk_problem_) error = beast_http::error::bad_chunk;
}

// `extensions` points into the buffer; the bytes that have come since follow it.
std::optional<HeadProblem> HttpConnection::check_chunk(
    std::uint64_t size, std::string_view extensions
) {
    const auto& limits = shared_->options.limits;
    chunk_padding_ += padding_of(size, extensions, view(buffer_));
    if (chunk_padding_ > limits.headers_max)
        return HeadProblem{413, "The lines of the chunks are larger than is allowed."};
    if (auto problem = check_extensions(extensions)) return problem;
    if (size > 0) return std::nullopt;
    const auto bytes = view(buffer_);
    const auto line_end =
        static_cast<std::size_t>(extensions.data() + extensions.size() - bytes.data());
    const auto end = bytes.find("\r\n\r\n", line_end);
    const auto trailers = bytes.substr(line_end + 2, end + 2 - line_end);
    // Beast throws if a field has more than 64 KiB.
    if (trailers.size() > limits.headers_max)
        return HeadProblem{431, "The trailers are larger than is allowed."};
    return check_trailers(trailers, limits);
}

void HttpConnection::on_body(error_code error) {
    if (chunk_problem_) return refuse(chunk_problem_->status, chunk_problem_->why);
    if (error == beast_http::error::body_limit)
        return refuse(413, "The body is larger than is allowed.");
    if (error.category() ==
            beast_http::make_error_code(beast_http::error::end_of_stream).category() &&
        error != beast_http::error::partial_message && error != beast_http::error::end_of_stream)
        return refuse(400, "The body is malformed.");
    if (error) return close();
    if (!body_charge_.grow_to(parser_->get().body().size())) {
        parser_.reset();  // With its body.
        body_charge_ = {};
        return refuse(no_room_for_bodies.status, no_room_for_bodies.why);
    }
    if (parser_->is_done()) return deliver();
    read_body();
}

void HttpConnection::deliver() {
    enter(State::handling, {});
    Request request{std::move(head_), std::move(parser_->get().body())};
    auto exchange = std::make_shared<Responder::Exchange>();
    exchange->mailbox = shared_->mailbox;
    exchange->connection = weak_from_this();
    exchange->body_charge = std::move(body_charge_);
    const auto serve = std::exchange(accepted_, {}).on_request;
    serve(std::move(request), Responder{std::move(exchange)});
}

void HttpConnection::answer(const Reply& reply) {
    if (state_ != State::handling) return;
    write(reply, !keep_alive_ || shared_->stopping);
}

void HttpConnection::refuse(int status, std::string_view why) {
    refuse(shared_->handlers.on_error(status, why, head_));
}

// Sends the reply, then reads the rest of the request for a while: a reset would destroy the
// response.
void HttpConnection::refuse(const Reply& reply) {
    accepted_ = {};
    write(reply, true);
}

void HttpConnection::write(const Reply& reply, bool last) {
    const auto& limits = shared_->options.limits;
    const std::chrono::seconds at_least_rate{
        reply.body.size() / std::max<std::size_t>(limits.body_rate_min, 1)};
    enter(State::writing, limits.write_timeout + at_least_rate);
    last_ = last;
    const auto now = steady_now();
    if (now >= shared_->date_until) {
        shared_->date = shared_->handlers.date();
        shared_->date_until = now + std::chrono::milliseconds{500};
    }
    const bool bodiless = reply.status == 204 || reply.status == 304;
    out_head_.clear();
    out_head_.append("HTTP/1.1 ").append(std::to_string(reply.status)).append(" ");
    out_head_.append(std::string_view{
        beast_http::obsolete_reason(beast_http::int_to_status(static_cast<unsigned>(reply.status)))}
    );
    out_head_.append("\r\nDate: ").append(shared_->date);
    for (const auto& header : reply.headers)
        out_head_.append("\r\n").append(header.name).append(": ").append(header.value);
    if (!bodiless)
        out_head_.append("\r\nContent-Length: ").append(std::to_string(reply.body.size()));
    out_head_.append(last ? "\r\nConnection: close\r\n\r\n" : "\r\nConnection: keep-alive\r\n\r\n");
    out_body_ = bodiless || is_head_ ? std::string{} : reply.body;
    const std::array<asio::const_buffer, 2> buffers{
        asio::buffer(out_head_), asio::buffer(out_body_)};
    asio::async_write(socket_, buffers, [self = shared_from_this()](error_code error, std::size_t) {
        self->on_written(error);
    });
}

void HttpConnection::on_written(error_code error) {
    if (error || state_ == State::closed) return close();
    if (!last_) return begin();
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    enter(State::draining, drain_max);
    drained_ = std::make_unique<std::array<char, 16UL * 1024>>(
    );  // buffer_ may still belong to a cancelled read.
    drain();
}

void HttpConnection::drain() {
    socket_.async_read_some(
        asio::buffer(*drained_),
        [self = shared_from_this()](error_code error, std::size_t) {
            if (error || self->state_ == State::closed) return self->close();
            self->drain();
        }
    );
}

void HttpConnection::check_deadline(SteadyTime now) {
    if (now < deadline_) return;
    if (state_ != State::head && state_ != State::body) return close();
    const auto* why =
        state_ == State::head ? "The headers came too slowly." : "The body came too slowly.";
    error_code ignored;
    state_ = State::writing;  // The handler of the cancelled read sees it and does nothing.
    socket_.cancel(ignored);
    refuse(408, why);
}

void HttpConnection::stop_when_idle() {
    if (state_ != State::idle) return;
    error_code ignored;
    if (socket_.available(ignored) > 0) return;  // A request: it is served, as the last one.
    // The client of a new connection is about to send its first request.
    if (!served_) return enter(State::idle, first_request_max);
    close();
}

void HttpConnection::close() {
    if (state_ == State::closed) return;
    state_ = State::closed;
    error_code ignored;
    socket_.close(ignored);
    const auto self = shared_from_this();
    shared_->waiting.remove(place_, eviction_class_);
    shared_->open.erase(self);
    if (shared_->on_closed) shared_->on_closed(address_);
}

}  // namespace pawl::http
