#pragma once

#include <pawl/json.hpp>
#include <pawl/service.hpp>

#include <httplib.h>

#include <string>
#include <variant>

// Pawl's operations as routes of a cpp-httplib server:
//   server.Post("/orders", pawl_route<PlaceOrder>(service, &find_caller));
namespace shop {

// What Pawl says instead of an answer (docs/http.md).
inline void set_problem(httplib::Response& out, const pawl::RunProblem& problem) {
    out.status = problem.status;
    if (problem.retry_after.count() > 0)
        out.set_header("Retry-After", std::to_string(problem.retry_after.count()));
    struct Body {
        std::string type;
        std::string detail;
        bool retry{};
    };
    const Body body{"/errors/" + problem.type, problem.detail, problem.retry};
    out.set_content(pawl::to_json(body), "application/problem+json");
}

template <class Op>
httplib::Server::Handler pawl_route(
    pawl::Service& service, pawl::Principal (*find_caller)(const httplib::Request&)
) {
    return [&service, find_caller](const httplib::Request& in, httplib::Response& out) {
        const auto key = in.get_header_value("Idempotency-Key");
        const auto end = service.run_json<Op>(find_caller(in), key, in.body);
        if (const auto* problem = std::get_if<pawl::RunProblem>(&end))
            return set_problem(out, *problem);
        const auto& [response, replayed] = std::get<pawl::RunAnswer>(end);
        out.status = response.status;
        for (const auto& [name, value] : response.headers) out.set_header(name, value);
        if (replayed) out.set_header("Idempotent-Replayed", "true");
        out.set_content(response.body, response.content_type);
    };
}

}  // namespace shop
