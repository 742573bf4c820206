#include "src/http/listener.hpp"

#include "src/base/options.hpp"
#include "src/core/assert.hpp"
#include "src/http/acceptor.hpp"
#include "src/http/trusted_proxies.hpp"

#include <boost/asio/steady_timer.hpp>

#include <system_error>
#include <utility>

namespace pawl::http {

using boost::system::error_code;

namespace {

// Longer only if a handler holds the first io_thread.
constexpr std::chrono::milliseconds acceptor_stop_max{200};
constexpr std::chrono::seconds stop_margin{2};  // Added to the drain, for threads to end.

}  // namespace

Responder::Responder(std::shared_ptr<Exchange> exchange) : exchange_{std::move(exchange)} {}
Responder::Responder(Responder&&) noexcept = default;
Responder& Responder::operator=(Responder&&) noexcept = default;

Responder::~Responder() {
    if (exchange_ && !exchange_->answered) (*this)(Reply{.status = 500});
}

void Responder::operator()(Reply reply) {
    PAWL_ASSERT(exchange_ && !exchange_->answered);
    exchange_->answered = true;
    exchange_->mailbox->put(exchange_->connection, std::move(reply));
}

std::optional<std::string> ListenerOptions::problem() const {
    if (auto why = limits.problem()) return "limits." + *why;
    if (connections_max < 1)
        return base::wrong_option("connections_max", connections_max, "at least 1");
    if (connections_per_address_max < 0)
        return base::wrong_option(
            "connections_per_address_max",
            connections_per_address_max,
            "at least 1, or 0 for no limit"
        );
    if (auto why = base::out_of("threads", threads, 1, 256)) return why;
    return TrustedProxies::problem(trusted_proxies);
}

Listener::OnHead Listener::accept_all(OnRequest on_request) {
    return
        [on_request = std::move(on_request)](const RequestHead&) { return Accepted{on_request}; };
}

struct Listener::Impl {
    Impl(const ListenerOptions& options_, const Handlers& handlers)
        : options{options_},
          io_threads{make_io_threads(handlers)},
          acceptor{options, handlers.on_warning, io_threads.front()->io(), io_threads} {}

    std::vector<std::unique_ptr<IoThread>> make_io_threads(const Handlers& handlers) {
        const auto bodies = std::make_shared<BodyBudget>(options.limits.bodies_max);
        std::vector<std::unique_ptr<IoThread>> made;
        for (int i = 0; i < options.threads; ++i)
            made.push_back(std::make_unique<IoThread>(
                options,
                handlers,
                bodies,
                [this](AddressPrefix address) { acceptor.on_closed(address); }
            ));
        return made;
    }

    // Stops each io_thread by itself: one with a held thread does not keep the others from ending.
    bool stop(std::chrono::milliseconds drain) {
        acceptor.stop().wait_for(acceptor_stop_max);
        for (const auto& io_thread : io_threads) io_thread->stop(drain);
        const auto until = steady_now() + drain + stop_margin;
        bool ended = true;
        for (const auto& io_thread : io_threads)
            if (io_thread->ends_until(until))
                io_thread->join();
            else
                ended = false;
        return ended;
    }

    const ListenerOptions options;
    std::vector<std::unique_ptr<IoThread>> io_threads;
    Acceptor acceptor;
    bool started{false};
};

Listener::Listener(const ListenerOptions& options, const Handlers& handlers)
    : impl_{std::make_unique<Impl>(base::checked(options, "ListenerOptions"), handlers)} {}

Listener::~Listener() {
    stop(std::chrono::milliseconds{0});
    for (const auto& io_thread : impl_->io_threads) io_thread->join();
}

void Listener::start() {
    impl_->started = true;
    impl_->acceptor.begin();
    for (const auto& io_thread : impl_->io_threads) io_thread->start();
}

void Listener::after(std::chrono::milliseconds wait, std::function<void()> f) {
    auto timer = std::make_shared<asio::steady_timer>(
        impl_->acceptor.executor(), wait
    );  // Owned by its own handler.
    timer->async_wait([timer, f = std::move(f)](error_code cancelled) {
        if (!cancelled) f();
    });
}
std::uint16_t Listener::port() const {
    return impl_->acceptor.port();
}

bool Listener::stop(std::chrono::milliseconds drain) {
    return !std::exchange(impl_->started, false) || impl_->stop(drain);
}

}  // namespace pawl::http
