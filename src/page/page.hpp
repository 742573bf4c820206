#pragma once

#include <pawl/service.hpp>

#include "src/http/listener.hpp"
#include "src/page/options.hpp"

#include <memory>

namespace pawl::page {

// The page for operators, and its API: the same paths under /api, as JSON, for those who send
// their token as `Authorization: Bearer`. Every request is answered on threads of its own.
class Page {
public:
    static constexpr std::size_t body_max = 64UL * 1024;

    // The service outlives it. Throws std::invalid_argument: the options, or the operators' file.
    Page(Service& service, PageOptions options);
    ~Page();  // Waits for the requests that are being answered.

    // Returns at once; 503 if many requests wait.
    void answer(http::Request request, http::Responder respond);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::page
