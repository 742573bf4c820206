#include "src/store/postgres/options.hpp"

#include "src/base/url.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace pawl::postgres {

namespace {

int number(std::string_view name, std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        throw std::invalid_argument{
            "the database's " + std::string{name} + "=" + std::string{text} + " is not a number"};
    return value;
}

bool on_or_off(std::string_view name, std::string_view value) {
    if (value != "on" && value != "off")
        throw std::invalid_argument{
            "the database's " + std::string{name} + "=" + std::string{value} +
            " is neither on nor off"};
    return value == "on";
}

// True if the parameter is one of Pawl's.
bool take(PostgresOptions& options, std::string_view name, std::string_view value) {
    if (name == "connections")
        options.connections = number(name, value);
    else if (name == "sharing")
        options.sharing = value == "off" ? 0 : number(name, value);
    else if (name == "prepared")
        options.prepared = on_or_off(name, value);
    else if (name == "notify")
        options.notify = on_or_off(name, value);
    else
        return false;
    return true;
}

}  // namespace

bool is_postgres_url(const std::string& url) {
    return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

PostgresOptions options_of_url(const std::string& url, PostgresOptions defaults) {
    auto options = std::move(defaults);
    const auto mark = base::parameters_at(url);
    options.url = url.substr(0, mark);
    if (mark == url.size()) return options;
    std::string_view rest = std::string_view{url}.substr(mark + 1);
    std::string kept;
    while (!rest.empty()) {
        const auto one = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
        const auto equals = one.find('=');
        const auto value = equals == one.npos ? std::string_view{} : one.substr(equals + 1);
        if (take(options, one.substr(0, equals), value)) continue;
        kept.append(kept.empty() ? "?" : "&").append(one);
    }
    options.url += kept;
    return options;
}

std::optional<std::string> PostgresOptions::problem() const {
    if (url.empty()) return "database: the URL is empty";
    if (connections < 1 || connections > 1'000)
        return "connections is " + std::to_string(connections) + ": 1 to 1000, best 16 to 32";
    if (sharing < 0 || sharing > 1'000)
        return "sharing is " + std::to_string(sharing) + ": off, or 1 to 1000, best 2 or 3";
    if (waiting_max < 1) return "waiting_max is 0: at least 1";
    if (reruns_max < 0) return "reruns_max is negative";
    return std::nullopt;
}

}  // namespace pawl::postgres
