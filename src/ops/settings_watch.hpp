#pragma once

#include <pawl/service.hpp>

#include "src/engine/engine.hpp"
#include "src/engine/server_settings.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::ops {

// Shows the settings of this server in its row in pawl_servers, and logs where the other servers
// that run have other ones. What must agree, and what may differ: docs/howto/deploys.md.
class SettingsWatch {
public:
    explicit SettingsWatch(engine::Engine& engine) : engine_{engine} {}  // The engine outlives it.

    // `value` is asked each time. Added before the start.
    void add(std::string name, std::function<std::string()> value);
    void add(std::string name, std::string value);

    void add_of_application(std::string name, std::string value);
    bool is_of_application(std::string_view name) const;

    core::Settings settings() const;
    // Settings of this program that other servers do not have. Throws StoreError.
    std::vector<core::SettingDifference> differences();

    // At a start: records which secret is in use from now on. Throws std::runtime_error (PAWL0024)
    // if this server lacks a secret that is in use; StoreError.
    void begin();
    // Throws StoreError.
    void run_once();
    void run(const std::stop_token& stop);

private:
    void show(const core::Settings& now);
    void log_difference(const core::SettingDifference& one) const;

    struct Named {
        std::string name;
        std::function<std::string()> value;
        bool of_application{};
    };
    engine::Engine& engine_;
    std::vector<Named> named_;
    std::optional<std::int64_t> server_;  // Whose row has `shown_`.
    std::string shown_;
    std::set<std::string> logged_;  // The differences of the last round.
};

// The versions that servers use, or the last one used. Throws StoreError.
std::set<int> secrets_in_use(store::Session& session, engine::Engine& engine);

// Those of the options that all servers of a database must have in common.
core::Settings settings_of(const ServiceOptions& options);
// What a queue has in common over all servers.
std::string text_of(const QueueOptions& queue);
std::string text_of(const QueueRate& rate);  // "2.5/s, burst 10"; empty: none.
// "lease is "30000 ms" here and "60000 ms" in server 3".
std::string text_of(const core::SettingDifference& one, const std::string& here = "here");
// The leases of those servers are so long that this program takes them for those of a wrong clock.
bool ends_leases_early(const core::SettingDifference& one);
// This program carries decisions out while people may still undo them by those servers' settings.
bool settles_early(const core::SettingDifference& one);
// Tells one secret, or one file of secrets, from another.
std::string digest_of(std::string_view secret);
std::string digest_of_file(const std::string& path);  // "unreadable", if it is.

}  // namespace pawl::ops
