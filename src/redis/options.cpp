#include "src/redis/options.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace pawl::redis {

namespace {

constexpr std::chrono::milliseconds timeout_least{10};
constexpr std::chrono::milliseconds timeout_most{60'000};

[[noreturn]] void refuse(const std::string& why) {
    throw std::invalid_argument{"the queue's Redis URL: " + why};
}

int number(std::string_view name, std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        refuse(std::string{name} + " is '" + std::string{text} + "', which is not a number");
    return value;
}

void set(Options& options, std::string_view name, std::string_view value) {
    if (name == "sidekiq") {
        const int version = number(name, value);
        if (version < 5 || version > 8)
            refuse("sidekiq is " + std::to_string(version) + ": 5 to 8");
        options.times = version < 8 ? SidekiqTimes::seconds : SidekiqTimes::milliseconds;
    } else if (name == "connect_timeout_ms") {
        options.connect_timeout = std::chrono::milliseconds{number(name, value)};
    } else if (name == "command_timeout_ms") {
        options.command_timeout = std::chrono::milliseconds{number(name, value)};
    } else {
        refuse(
            "the parameter " + std::string{name} +
            " is not known: sidekiq, connect_timeout_ms, command_timeout_ms"
        );
    }
}

int database_of(std::string_view path) {
    if (path.empty() || path == "/") return 0;
    return number("the number of the database", path.substr(1));
}

std::optional<std::string> problem_of(std::string_view name, std::chrono::milliseconds timeout) {
    if (timeout >= timeout_least && timeout <= timeout_most) return std::nullopt;
    return std::string{name} + " is " + std::to_string(timeout.count()) + " ms: 10 to 60000";
}

}  // namespace

Options options_of_url(const std::string& url) {
    if (url.starts_with("rediss://"))
        refuse(
            "rediss:// is not supported: the hiredis of Debian 12 (0.14) has no TLS. Use redis:// "
            "through stunnel, or in a private network"
        );
    const auto parsed = boost::urls::parse_uri(url);
    if (!parsed || parsed->scheme() != "redis" || parsed->has_fragment())
        refuse("expected redis://[user:password@]host[:port][/database][?sidekiq=7]");
    Options options;
    options.host = parsed->host_address();
    if (options.host.empty()) refuse("it names no host");
    if (parsed->has_port()) options.port = number("the port", std::string{parsed->port()});
    options.user = parsed->user();
    options.password = parsed->password();
    options.database = database_of(parsed->path());
    for (const auto& parameter : parsed->params()) set(options, parameter.key, parameter.value);
    if (const auto problem = options.problem()) refuse(*problem);
    return options;
}

std::optional<std::string> Options::problem() const {
    if (host.empty()) return "the host is empty";
    if (port < 1 || port > 65'535) return "the port is " + std::to_string(port) + ": 1 to 65535";
    if (database < 0 || database > 1'000'000)
        return "the database is " + std::to_string(database) + ": 0 to 1000000, and 0 to 15 mostly";
    if (!user.empty() && password.empty()) return "there is a user without a password";
    if (idle_max < 0 || idle_max > 1'000)
        return "idle_max is " + std::to_string(idle_max) + ": 0 to 1000";
    if (auto wrong = problem_of("connect_timeout_ms", connect_timeout)) return wrong;
    return problem_of("command_timeout_ms", command_timeout);
}

std::string Options::place() const {
    const bool v6 = host.find(':') != host.npos;
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace pawl::redis
