#include <pawl/json.hpp>
#include <pawl/operator_server.hpp>

#include "src/base/options.hpp"
#include "src/base/thread_name.hpp"
#include "src/http/http_date.hpp"
#include "src/http/listener.hpp"
#include "src/http/problem.hpp"
#include "src/http/problem_page.hpp"
#include "src/http/trusted_proxies.hpp"
#include "src/operate/database_metrics.hpp"
#include "src/operate/metrics.hpp"
#include "src/operate/metrics_text.hpp"
#include "src/operate/readiness.hpp"
#include "src/operate/sampler.hpp"
#include "src/operate/server_metrics.hpp"
#include "src/operate/store_probe.hpp"
#include "src/ops/round_log.hpp"
#include "src/ops/service_impl.hpp"
#include "src/page/page.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace pawl {

namespace {

using http::Reply;

Reply json_reply(int status, std::string body) {
    return {
        .status = status,
        .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
        .body = std::move(body) + '\n'};
}

// Of the file system of a SQLite database; nullopt: another database.
std::optional<operate::Disk> disk_of(const Database& database) {
    const std::filesystem::path file{database.mark_file()};
    if (file.empty()) return std::nullopt;
    std::error_code failed;
    const auto space = std::filesystem::space(
        file.has_parent_path() ? file.parent_path() : std::filesystem::path{"."}, failed
    );
    if (failed) return operate::Disk{};  // It can't be read: not ready.
    return operate::Disk{.free = space.available, .size = space.capacity};
}

struct Version {
    std::string version;
};

constexpr std::array<std::string_view, 5> probes{
    "/livez", "/startupz", "/readyz", "/metrics", "/version"};

std::unique_ptr<page::Page> page_of(Service& service, const OperatorOptions& options) {
    if (options.operators_file.empty()) return nullptr;
    return std::make_unique<page::Page>(
        service, page::PageOptions{options.operators_file, options.user_header, options.proxies}
    );
}

}  // namespace

std::optional<std::string> OperatorOptions::problem() const {
    using namespace std::chrono_literals;
    if (pre_stop_delay < 0ms || pre_stop_delay > 10min)
        return "pre_stop_delay is " + std::to_string(pre_stop_delay.count()) + " ms: 0 to 600000";
    if (!operators_file.empty() && listen.empty())
        return "operators_file needs the operator's listener: --operate ADDRESS:PORT";
    if (!user_header.empty() && proxies.empty())
        return "user_header needs proxies, the addresses from which it counts";
    if (auto why = http::TrustedProxies::problem(proxies)) return why;
    if (!user_header.empty() && operators_file.empty())
        return "user_header needs operators_file, which has the roles";
    return std::nullopt;
}

struct OperatorServer::Impl {
    Impl(Service& on, OperatorOptions given)
        : service{on},
          options{base::checked(std::move(given), "pawl::OperatorOptions")},
          metrics{std::make_shared<operate::Metrics>()},
          probe{
              service.engine().store(),
              service.engine().clock(),
              [to = metrics](auto took) { to->on_store_write(took); }},
          database{service},
          sampler{service},
          page{page_of(service, options)},
          listener{
              {.listen = options.listen,
               .connections_max = 256,
               .trusted_proxies = options.proxies},
              {.on_head = [this](const RequestHead& head) { return decide(head); },
               .on_error = [](int status,
                              std::string_view why,
                              const RequestHead&) { return http::refusal(status, why); },
               .date = [this] { return http::http_date(service.engine().clock().now()); },
               .on_warning = log::warn}} {
        if (service.impl().started)
            throw std::logic_error{"pawl: make the OperatorServer before the service starts"};
        service.engine().observe(metrics);
        if (!options.operators_file.empty())
            service.impl().settings.add("operators", [file = options.operators_file] {
                return "digest " + ops::digest_of_file(file);
            });
    }

    // The page has threads of its own, so that no query of a person delays a probe.
    http::Listener::Decision decide(const RequestHead& head) {
        if (auto text = http::problem_page(head))
            return http::Listener::Accepted{
                .on_request = [text = std::move(*text)](
                                  const http::Request&, http::Responder respond
                              ) { respond(text); }};
        const bool probed = std::ranges::find(probes, head.path) != probes.end();
        if (!probed && page && started)
            return http::Listener::Accepted{
                .on_request = [this](
                                  http::Request request, http::Responder respond
                              ) { page->answer(std::move(request), std::move(respond)); },
                .body_max = page::Page::body_max};
        if (head.method != "GET" && head.method != "HEAD") {
            auto reply = http::refusal(405, "This path supports: GET, HEAD.");
            reply.headers.push_back({"Allow", "GET, HEAD"});
            return reply;
        }
        return http::Listener::Accepted{
            .on_request = [this](const http::Request& request, http::Responder respond) {
                respond(answer(request.head));
            }};
    }

    Reply answer(const RequestHead& head) const {
        if (head.path == "/livez")
            return {.status = 200, .headers = {{"Content-Type", "text/plain"}}, .body = "ok\n"};
        if (head.path == "/startupz")
            return json_reply(
                started ? 200 : 503, started ? "{\"started\":true}" : "{\"started\":false}"
            );
        if (head.path == "/readyz") {
            const auto found = readiness();
            return json_reply(found.ready ? 200 : 503, to_json(found));
        }
        if (head.path == "/metrics") return metrics_reply(head);
        if (head.path == "/version") return json_reply(200, to_json(Version{PAWL_VERSION}));
        return http::refusal(
            404,
            options.operators_file.empty()
                ? "No route has this path. The page needs --operators FILE."
                : "No route has this path, or the server has not started yet."
        );
    }

    // Seen in the last minute: the workers try again after 5 s at most.
    static std::optional<std::string> jobs_unreadable() {
        const auto since = base::system_clock().now() - std::chrono::minutes{1};
        for (auto& one : ops::round_counts())
            if (one.service == "worker" && one.defect_at && *one.defect_at > since)
                return std::move(one.defect);
        return std::nullopt;
    }

    operate::Readiness readiness() const {
        return operate::decide_readiness(
            {.started = started,
             .stopping = stopping,
             .store_down = probe.down(),
             .disk = disk_of(service.database()),
             .disk_free_min = options.disk_free_min,
             .migrations_missing = database.migrations_missing(),
             .jobs_unreadable = jobs_unreadable()}
        );
    }

    std::vector<prometheus::MetricFamily> families() const {
        auto families = metrics->collect();
        const auto append = [&](std::vector<prometheus::MetricFamily> more) {
            families.insert(
                families.end(),
                std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end())
            );
        };
        append(operate::server_metrics(
            service,
            {.ready = readiness().ready,
             .store_up = !probe.down(),
             .disk = disk_of(service.database()),
             .started_at = began}
        ));
        append(database.last());
        return families;
    }

    Reply metrics_reply(const RequestHead& head) const {
        auto text = operate::metrics_text(families(), head.header("Accept").value_or(""));
        return {
            .status = 200,
            .headers = {{"Content-Type", std::move(text.content_type)}},
            .body = std::move(text.body)};
    }

    Service& service;
    OperatorOptions options;
    std::shared_ptr<operate::Metrics> metrics;  // Shared with the engine, which counts.
    operate::StoreProbe probe;
    operate::DatabaseMetrics database;
    TimePoint began{service.engine().clock().now()};
    std::atomic<bool> started{false};
    std::atomic<bool> stopping{false};
    operate::Sampler sampler;
    std::unique_ptr<page::Page> page;  // nullptr: there is none.
    http::Listener listener;
    std::vector<std::jthread> threads;
};

OperatorServer::OperatorServer(Service& service, OperatorOptions options)
    : impl_{std::make_unique<Impl>(service, std::move(options))} {}

OperatorServer::~OperatorServer() = default;

void OperatorServer::start() {
    impl_->listener.start();
}

// Before the start there is no row of this server to write, and no table is known to be there.
void OperatorServer::set_started() {
    impl_->probe.run_once();
    const auto run = [this](const char* name, auto f) {
        impl_->threads.emplace_back([name, f](const std::stop_token& stop) {
            base::name_this_thread(name);
            f(stop);
        });
    };
    run("pawl-probe", [&probe = impl_->probe](const std::stop_token& stop) { probe.run(stop); });
    run("pawl-gauges", [&rows = impl_->database](const std::stop_token& stop) { rows.run(stop); });
    run("pawl-sampler", [&impl = *impl_](const std::stop_token& stop) {
        impl.sampler.run(stop, [&impl] { return impl.families(); });
    });
    impl_->started = true;
}

void OperatorServer::set_stopping() {
    impl_->stopping = true;
}

std::uint16_t OperatorServer::port() const {
    return impl_->listener.port();
}

}  // namespace pawl
