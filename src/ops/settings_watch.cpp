#include "src/ops/settings_watch.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/log.hpp"
#include "src/base/url.hpp"
#include "src/json/hash.hpp"
#include "src/ops/rounds.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace pawl::ops {

namespace {

using namespace std::chrono_literals;
using detail::execute_statement;
using detail::run_statement;

constexpr auto every = 2s;
// Enough to tell two secrets apart, and too little to guess one.
constexpr std::size_t digest_length = 8;

std::string text(std::chrono::milliseconds time) {
    return std::to_string(time.count()) + " ms";
}

std::string text(std::chrono::hours time) {
    return std::to_string(time.count()) + " h";
}

std::string text_of(const std::vector<std::int64_t>& servers) {
    std::string all;
    for (const auto id : servers) all += (all.empty() ? "" : " ") + std::to_string(id);
    return all;
}

}  // namespace

std::set<int> secrets_in_use(store::Session& session, engine::Engine& engine) {
    std::set<int> found;
    run_statement(session, sql::find_secret_in_use, [&](const detail::Row& row) {
        const bool recorded = row.integer(1) != 0;
        const auto newest_before = engine.installation().newest_before;
        if (recorded || newest_before > 0)
            found.insert(recorded ? static_cast<int>(row.integer(0)) : newest_before);
    });
    for (const auto& other : engine::running_servers(session, engine.store()))
        if (const auto version = engine::secret_version(other.settings)) found.insert(*version);
    return found;
}

void SettingsWatch::add(std::string name, std::function<std::string()> value) {
    named_.push_back({std::move(name), std::move(value), false});
}

void SettingsWatch::add(std::string name, std::string value) {
    add(std::move(name), [value = std::move(value)] { return value; });
}

void SettingsWatch::add_of_application(std::string name, std::string value) {
    add(std::move(name), std::move(value));
    named_.back().of_application = true;
}

bool SettingsWatch::is_of_application(std::string_view name) const {
    return std::ranges::any_of(named_, [&](const Named& one) {
        return one.of_application && one.name == name;
    });
}

core::Settings SettingsWatch::settings() const {
    core::Settings now;
    for (const auto& one : named_) now.push_back({one.name, one.value()});
    const auto version = engine_.installation().secret_version();
    now.push_back({std::string{engine::secret_version_setting}, std::to_string(version)});
    return now;
}

std::vector<core::SettingDifference> SettingsWatch::differences() {
    const auto others = store::read_now(engine_.store(), [&](store::Session& session) {
        return engine::running_servers(session, engine_.store());
    });
    return engine::compare_with(settings(), others);
}

void SettingsWatch::begin() {
    const auto& ours = engine_.installation();
    store::write_now(engine_.store(), [&](store::Session& session) {
        for (const auto version : secrets_in_use(session, engine_))
            if (!ours.secrets.contains(version))
                throw std::runtime_error{
                    std::string{engine::secret_missing} + ": the secret of version " +
                    std::to_string(version) +
                    " is in use, and this server does not have it: give --secret-file, or "
                    "PAWL_SECRET_FILE, a file with the secrets of the other servers"};
        execute_statement(session, sql::set_secret_used, ours.secret_version(), session.now());
    });
}

// A server that was taken for dead has another row now.
void SettingsWatch::show(const core::Settings& now) {
    const auto server = engine_.store().server();
    auto all = engine::to_text(now);
    if (!server || (server == server_ && all == shown_)) return;
    store::write_now(engine_.store(), [&](store::Session& session) {
        execute_statement(session, sql::set_server_settings, *server, all);
    });
    server_ = server;
    shown_ = std::move(all);
}

void SettingsWatch::log_difference(const core::SettingDifference& one) const {
    const auto servers = text_of(one.servers);
    const auto version = engine::secret_version({{one.name, one.there}});
    if (version && !engine_.installation().secrets.contains(*version))
        return log::error(
            "other_secret_in_use",
            {{"code", engine::secret_missing},
             {"version", *version},
             {"servers", servers},
             {"detail", "repeats of requests that these servers stored get 503 here"}}
        );
    log::warning(
        "settings_differ",
        {{"code", "PAWL0025"},
         {"setting", one.name},
         {"here", one.here},
         {"there", one.there},
         {"servers", servers}}
    );
}

void SettingsWatch::run_once() {
    show(settings());
    std::set<std::string> found;
    for (const auto& one : differences()) {
        const auto what = engine::to_text({{one.name, one.here}, {one.name, one.there}});
        if (!logged_.contains(what)) log_difference(one);
        found.insert(what);
    }
    logged_ = std::move(found);
}

void SettingsWatch::run(const std::stop_token& stop) {
    rounds(stop, engine_.clock(), every, "settings", [this](TimePoint) {
        run_once();
        return false;
    });
}

core::Settings settings_of(const ServiceOptions& options) {
    return {
        {"lease", text(options.lease)},
        {"call_timeout", text(options.call_timeout)},
        {"complete_after", text(options.complete_after)},
        {"settle_after", text(options.settle_after)},
        {"keep_keys", text(options.keep_keys)},
        {"keep_expired", text(options.keep_expired)},
        {"repeats_for", text(options.repeats_for)},
        {"job_lease", text(options.job_lease)},
        {"queue", base::without_password(options.queue)}};
}

std::string text_of(const QueueOptions& queue) {
    std::string all = "retry_layers";
    for (const auto wait : queue.retry_layers) all += ' ' + text(wait);
    all += ", running_max " + std::to_string(queue.running_max) + ", partition_max " +
           std::to_string(queue.partition_max);
    const auto rate = text_of(queue.rate);
    return rate.empty() ? all : all + ", rate " + rate;
}

std::string text_of(const QueueRate& rate) {
    if (rate.per_second == 0) return {};
    std::ostringstream text;
    text << rate.per_second << "/s, burst " << rate.burst;
    return text.str();
}

std::string text_of(const core::SettingDifference& one, const std::string& here) {
    return one.name + " is \"" + one.here + "\" " + here + " and \"" + one.there + "\" in server " +
           text_of(one.servers);
}

bool ends_leases_early(const core::SettingDifference& one) {
    const auto here = core::length_of({{one.name, one.here}}, "lease");
    return core::length_of({{one.name, one.there}}, "lease") > 2 * here;
}

bool settles_early(const core::SettingDifference& one) {
    return one.name == "settle_after" && core::length_of({{one.name, one.here}}, one.name) <
                                             core::length_of({{one.name, one.there}}, one.name);
}

std::string digest_of(std::string_view secret) {
    return json::hex(json::sha256(secret)).substr(0, digest_length);
}

std::string digest_of_file(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return "unreadable";
    return digest_of(std::string{std::istreambuf_iterator<char>{file}, {}});
}

}  // namespace pawl::ops
