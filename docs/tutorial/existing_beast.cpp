#include <pawl/database.hpp>
#include <pawl/http.hpp>

#include "docs/tutorial/beast_adapter.hpp"
#include "docs/tutorial/place_order.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string_view>
#include <thread>

// The shop of existing_service.cpp, on Boost.Beast's own loop.
namespace shop {

namespace asio = boost::asio;
using asio::ip::tcp;

asio::awaitable<Answer> answer(pawl::Service& service, const Request& in) {
    if (in.method() == http::verb::post && in.target() == "/orders") {
        const pawl::Principal caller{.tenant = "shop", .account = in["X-Customer"]};
        co_return co_await pawl_route<PlaceOrder>(service, caller, in);
    }
    co_return Answer{http::status::not_found, in.version()};
}

asio::awaitable<void> serve_client(pawl::Service& service, tcp::socket socket) {
    boost::beast::tcp_stream stream{std::move(socket)};
    boost::beast::flat_buffer buffer;
    bool goes_on = true;
    while (goes_on) {
        stream.expires_after(std::chrono::seconds{30});
        Request in;
        co_await http::async_read(stream, buffer, in, asio::use_awaitable);
        stream.expires_never();  // While the operation runs.
        auto out = co_await answer(service, in);
        goes_on = in.keep_alive();
        out.keep_alive(goes_on);
        out.prepare_payload();
        stream.expires_after(std::chrono::seconds{30});
        co_await http::async_write(stream, out, asio::use_awaitable);
    }
}

asio::awaitable<void> listen(pawl::Service& service, tcp::acceptor acceptor) {
    while (true) {
        auto socket = co_await acceptor.async_accept(asio::use_awaitable);
        const auto executor = socket.get_executor();
        asio::co_spawn(executor, serve_client(service, std::move(socket)), asio::detached);
    }
}

int serve(int port) {
    pawl::block_end_signals();  // Before any thread is made.
    const auto database = pawl::Database::open("sqlite:shop.db");
    pawl::Service service{*database};
    service.add(PlaceOrder{});
    service.start();

    asio::io_context loop;
    const tcp::endpoint endpoint{
        asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)};
    asio::co_spawn(loop, listen(service, tcp::acceptor{loop, endpoint}), asio::detached);
    std::thread thread{[&] { loop.run(); }};
    pawl::wait_for_end_signal();
    const bool drained = service.stop(service.options().drain_time());
    loop.stop();  // A client whose answer this cuts off repeats its request.
    thread.join();
    return drained ? 0 : 1;
}

}  // namespace shop

int main(int argc, char** argv) {
    const std::string_view port{argc == 2 ? argv[1] : ""};
    int number = 0;
    std::from_chars(port.data(), port.data() + port.size(), number);
    try {
        return shop::serve(number);
    } catch (const std::exception& failed) {
        std::cerr << "existing_beast: " << failed.what() << '\n';
        return 1;
    }
}
