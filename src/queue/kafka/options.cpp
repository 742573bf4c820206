#include "src/queue/kafka/options.hpp"

#include "src/core/ascii.hpp"
#include "src/queue/kafka/topics.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace pawl::queue {

namespace {

constexpr std::string_view scheme = "kafka://";
constexpr std::string_view default_port = "9092";

// Settings that the queue's guarantees rest on, and those that have an option of their own.
constexpr std::string_view ours =
    "acks bootstrap.servers enable.auto.commit enable.auto.offset.store enable.idempotence "
    "enable.partition.eof group.id auto.offset.reset message.timeout.ms metadata.broker.list "
    "partition.assignment.strategy request.required.acks transactional.id";

std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        unsigned byte = 0;
        const auto digits = text.substr(at + 1, 2);
        const auto* end = digits.data() + digits.size();
        const auto read = std::from_chars(digits.data(), end, byte, 16);
        if (digits.size() != 2 || read.ec != std::errc{} || read.ptr != end)
            throw std::invalid_argument{"the queue's URL has a % without two hex digits"};
        out += static_cast<char>(byte);
        at += 2;
    }
    return out;
}

// Removes the part up to one of `marks`, and the mark, from `rest`; returns the part.
std::string_view take_up_to(std::string_view& rest, std::string_view marks) {
    const auto part = rest.substr(0, rest.find_first_of(marks));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    return part;
}

std::string with_ports(std::string_view hosts) {
    std::string brokers;
    while (!hosts.empty()) {
        const auto host = take_up_to(hosts, ",");
        if (host.empty()) continue;
        if (!brokers.empty()) brokers += ',';
        brokers += host;
        // The colons of an IPv6 address are in brackets.
        const auto port = host.rfind(':');
        if (port == host.npos || host.find(']', port) != host.npos)
            brokers.append(":").append(default_port);
    }
    return brokers;
}

std::optional<std::string> problem_of_name(std::string_view what, const std::string& name) {
    if (name.empty() || name.size() > 60 || !kafka::is_topic(name))
        return "the queue's " + std::string{what} + " is '" + name +
               "': 1 to 60 of A-Z a-z 0-9 . _ -";
    return std::nullopt;
}

}  // namespace

KafkaOptions kafka_options_of_url(const std::string& url, KafkaOptions defaults) {
    if (!url.starts_with(scheme))
        throw std::invalid_argument{"the queue's URL begins with no kafka://"};
    auto options = std::move(defaults);
    auto rest = std::string_view{url}.substr(scheme.size());
    const auto query = rest.find('?');
    auto parameters = query == rest.npos ? std::string_view{} : rest.substr(query + 1);
    auto place = rest.substr(0, query);
    options.brokers = with_ports(take_up_to(place, "/"));
    if (!place.empty()) options.prefix = decoded(place);
    while (!parameters.empty()) {
        auto value = take_up_to(parameters, "&");
        const auto name = take_up_to(value, "=");
        if (name == "group")
            options.group = decoded(value);
        else
            options.settings.emplace_back(decoded(name), decoded(value));
    }
    return options;
}

std::optional<std::string> KafkaOptions::problem() const {
    if (brokers.empty()) return "the queue's URL names no broker";
    if (auto wrong = problem_of_name("prefix", prefix)) return wrong;
    if (auto wrong = problem_of_name("group", group)) return wrong;
    if (layers.empty()) return "the queue has no retry layer: at least one";
    if (!std::is_sorted(layers.begin(), layers.end(), std::less_equal<>{}) || layers[0] < 1ms)
        return "the queue's retry layers do not ascend from 1 ms";
    if (session_timeout < 1s || session_timeout > 30min)
        return "session_timeout is " + std::to_string(session_timeout.count()) +
               " ms: 1 s to 30 min";
    if (hold_max < 1 || hold_max > 100'000)
        return "hold_max is " + std::to_string(hold_max) + ": 1 to 100000";
    if (message_max < 1'000 || message_max > 100'000'000)
        return "message_max is " + std::to_string(message_max) + ": 1000 to 100000000";
    for (const auto& [name, value] : settings)
        if (core::has_word(ours, name))
            return "the queue's setting " + name + " can't be changed: jobs would be lost";
    return std::nullopt;
}

}  // namespace pawl::queue
