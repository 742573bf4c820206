#pragma once

#include <pawl/browser.hpp>

#include "src/engine/engine.hpp"
#include "src/http/access_log.hpp"
#include "src/http/listener.hpp"
#include "src/http/quotas.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::http {

// The response as `browser.present` renders it, with the headers of the contract; or unchanged.
Reply shown(const BrowserOptions& browser, const Shown& what, Reply reply);

// Adds the id of a request that is refused before its body to the reply, and writes its line.
void log_refusal(
    AccessLog& access, const RequestHead& head, Reply& reply, std::string_view problem
);

// Sends the response of one request: renders it for a browser, and writes the access log. Shared by
// the callbacks that may answer; they must be copyable, which a Responder is not.
class ResponseWriter : public std::enable_shared_from_this<ResponseWriter> {
public:
    struct Parts {
        std::shared_ptr<const void> server;  // Keeps alive what is borrowed here.
        AccessLog& access;
        engine::Engine& engine;
        const BrowserOptions& browser;
    };
    ResponseWriter(Parts parts, Responder respond, const RequestHead& head);

    void set_route(std::string_view route) { route_ = route; }  // Routes outlive requests.
    void set_place(Quotas::Place place) { place_ = std::move(place); }
    void set_over_quota(std::string_view limit) { over_quota_ = limit; }
    void set_operation(std::string_view name) { operation_ = name; }  // It outlives requests.
    const std::string& request_id() const { return request_id_; }
    bool logs() const { return parts_.access.on(); }
    void set_key_hash(std::string hash) { key_hash_ = std::move(hash); }
    void set_principal(const Principal& principal);
    // For the request's attempt; nullptr: it is in no trace.
    const engine::TracePtr& trace() const { return trace_; }
    // For the page, if one is rendered.
    bool shows() const { return browsing_ != nullptr; }
    void set_form(std::vector<FormField> form);
    void set_key(std::string_view key);

    void operator()(Reply reply);

private:
    struct Browsing {
        RequestHead head;
        std::vector<FormField> form;
        std::string key;
    };
    void end_trace(int status, std::string outcome);

    Parts parts_;
    Responder respond_;
    std::string client_;
    std::string method_;
    std::string_view route_;
    std::string_view operation_;
    std::string key_hash_;
    std::string request_id_;
    std::optional<Principal> principal_;
    Quotas::Place place_;
    std::string_view over_quota_;
    std::unique_ptr<Browsing> browsing_;
    engine::TracePtr trace_;
    std::chrono::steady_clock::time_point began_{};
    std::atomic<bool> used_{false};
};

}  // namespace pawl::http
