#include "src/http/io_thread.hpp"

#include "src/base/thread_name.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <utility>
#include <vector>

namespace pawl::http {

using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds sweep_every{100};

// A copy, because closing a connection removes it from the set.
std::vector<std::shared_ptr<HttpConnection>> open_now(const Shared& shared) {
    return {shared.open.begin(), shared.open.end()};
}

}  // namespace

IoThread::IoThread(
    const ListenerOptions& options,
    const Listener::Handlers& handlers,
    std::shared_ptr<BodyBudget> bodies,
    std::function<void(AddressPrefix)> on_closed
)
    : shared_{std::make_shared<Shared>()}, sweep_timer_{io_} {
    shared_->options = options;
    shared_->handlers = handlers;
    shared_->bodies = std::move(bodies);
    shared_->proxies = TrustedProxies{options.trusted_proxies};
    shared_->mailbox = std::make_shared<ReplyQueue>(io_);
    shared_->on_closed = [this, on_closed = std::move(on_closed)](AddressPrefix address) {
        if (!shared_->stopping) return on_closed(address);
        if (shared_->open.empty()) io_.stop();
    };
}

IoThread::~IoThread() {
    shared_->mailbox->close();
    shared_->on_closed = nullptr;
}

void IoThread::start() {
    thread_ = std::thread{[this] {
        base::name_this_thread("pawl-http");
        shared_->mailbox->set_thread(std::this_thread::get_id());
        sweep();
#ifdef PAWL_FAULTS
        if (shared_->handlers.on_warning) {
            stall_watch_.emplace(io_, shared_->handlers.on_warning);
            stall_watch_->start();
        }
#endif
        io_.run();
        ended_.set_value();
    }};
}

void IoThread::add(tcp::socket socket, AddressPrefix address) {
    asio::dispatch(io_, [this, address, socket = std::move(socket)]() mutable {
        if (shared_->stopping) return;
        auto connection = std::make_shared<HttpConnection>(std::move(socket), address, shared_);
        shared_->open.insert(connection);
        connection->begin();
    });
}

void IoThread::close_longest(EvictionClass kind, std::function<void()> if_none) {
    asio::post(io_, [this, kind, if_none = std::move(if_none)] {
        if (auto* connection = shared_->waiting.longest(kind))
            connection->close();
        else
            if_none();
    });
}

void IoThread::sweep() {
    sweep_timer_.expires_after(sweep_every);
    sweep_timer_.async_wait([this](error_code cancelled) {
        if (cancelled) return;
        const auto now = steady_now();
        for (const auto& connection : open_now(*shared_)) connection->check_deadline(now);
        sweep();
    });
}

void IoThread::stop(std::chrono::milliseconds drain) {
    asio::post(io_, [this, drain] {
        shared_->stopping = true;
        for (const auto& connection : open_now(*shared_)) connection->stop_when_idle();
        if (shared_->open.empty() || drain.count() == 0) return finish_stop();
        stop_timer_.emplace(io_, drain);
        stop_timer_->async_wait([this](error_code) { finish_stop(); });
    });
}

bool IoThread::ends_until(SteadyTime until) {
    if (!thread_.joinable()) return true;
    return ended_.get_future().wait_until(until) == std::future_status::ready;
}

void IoThread::join() {
    if (thread_.joinable()) thread_.join();
}

void IoThread::finish_stop() {
    for (const auto& connection : open_now(*shared_)) connection->close();
    io_.stop();
}

}  // namespace pawl::http
