#include <pawl/log.hpp>
#include <pawl/traces.hpp>

#include "src/base/options.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/service_impl.hpp"
#include "src/trace/headers_file.hpp"
#include "src/trace/recorder.hpp"

#include <stdexcept>
#include <utility>

namespace pawl {

namespace {

std::string whole_url(std::string url) {
    while (url.ends_with('/')) url.pop_back();
    return url + "/v1/traces";
}

std::optional<std::string> wrong_time(std::string_view name, std::chrono::milliseconds time) {
    if (time.count() >= 1 && time <= std::chrono::minutes{1}) return std::nullopt;
    return base::wrong_option(name, time.count(), "1 to 60000 ms");
}

}  // namespace

std::optional<std::string> TraceOptions::problem() const {
    if (!otlp_url.empty() && !otlp_url.starts_with("http://") && !otlp_url.starts_with("https://"))
        return "otlp_url is no address of http: http:// or https://, and a host";
    if (!(ratio >= 0 && ratio <= 1)) return base::wrong_option("ratio", ratio, "0 to 1");
    if (auto why = base::out_of("waiting_max", waiting_max, 1, 1'000'000)) return why;
    if (auto why = wrong_time("timeout", timeout)) return why;
    return wrong_time("stop_limit", stop_limit);
}

struct Traces::Impl {
    std::shared_ptr<trace::Recorder> recorder;  // Shared with the engine, which observes by it.
};

Traces::Traces(Service& service, TraceOptions given) {
    const auto options = base::checked(std::move(given), "pawl::TraceOptions");
    if (options.otlp_url.empty()) return;
    if (service.impl().started)
        throw std::logic_error{"pawl: make the Traces before the service starts"};
    auto& engine = service.engine();
    auto recorder = std::make_shared<trace::Recorder>(
        trace::Recorder::Parts{engine.clock(), engine.random()},
        options.ratio,
        trace::ExporterOptions{
            .url = whole_url(options.otlp_url),
            .headers = trace::read_headers(options.headers_file),
            .resource = {.service = options.service, .version = PAWL_VERSION},
            .waiting_max = options.waiting_max,
            .timeout = options.timeout,
            .stop_limit = options.stop_limit}
    );
    engine.observe(recorder);
    impl_ = std::make_unique<Impl>(Impl{std::move(recorder)});
}

Traces::~Traces() {
    if (impl_) impl_->recorder->stop();
}

}  // namespace pawl
