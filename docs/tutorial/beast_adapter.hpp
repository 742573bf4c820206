#pragma once

#include <pawl/json.hpp>
#include <pawl/service.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http.hpp>

#include <memory>
#include <string>
#include <utility>
#include <variant>

// Pawl's operations as routes of a program on Boost.Beast, whose loop they do not block:
//   auto answer = co_await pawl_route<PlaceOrder>(service, find_caller(request), request);
namespace shop {

namespace http = boost::beast::http;
using Request = http::request<http::string_body>;
using Answer = http::response<http::string_body>;

inline Answer answer_of(const pawl::RunAnswer& end, unsigned version) {
    const auto& response = end.response;
    Answer answer{http::int_to_status(static_cast<unsigned>(response.status)), version};
    for (const auto& [name, value] : response.headers) answer.set(name, value);
    if (end.replayed) answer.set("Idempotent-Replayed", "true");
    answer.set(http::field::content_type, response.content_type);
    answer.body() = response.body;
    return answer;
}

// What Pawl says instead of an answer (docs/http.md).
inline Answer answer_of(const pawl::RunProblem& problem, unsigned version) {
    struct Body {
        std::string type;
        std::string detail;
        bool retry{};
    };
    Answer answer{http::int_to_status(static_cast<unsigned>(problem.status)), version};
    if (problem.retry_after.count() > 0)
        answer.set(http::field::retry_after, std::to_string(problem.retry_after.count()));
    answer.set(http::field::content_type, "application/problem+json");
    answer.body() = pawl::to_json(Body{"/errors/" + problem.type, problem.detail, problem.retry});
    return answer;
}

template <class Op>
boost::asio::awaitable<Answer> pawl_route(
    pawl::Service& service, pawl::Principal caller, const Request& in
) {
    namespace asio = boost::asio;
    const std::string key{in["Idempotency-Key"]};
    const auto start = [&](auto handler) {
        // The service ends the request on a thread of its own; the route goes on in its loop.
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        service.run_json<Op>(caller, key, in.body(), [shared](pawl::RunResult end) {
            asio::post(
                asio::get_associated_executor(*shared),
                [shared, end = std::move(end)]() mutable { std::move (*shared)(std::move(end)); }
            );
        });
    };
    const auto end =
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void(pawl::RunResult)>(
            start, asio::use_awaitable
        );
    co_return std::visit([&](const auto& one) { return answer_of(one, in.version()); }, end);
}

}  // namespace shop
