#include "src/http/trusted_proxies.hpp"

#include "src/core/ascii.hpp"
#include "src/http/address_prefix.hpp"
#include "src/http/field_syntax.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace pawl::http {

namespace {

namespace ip = boost::asio::ip;

// Takes the part after the last `mark` that is in no quotes off the end of `text`. Reads from the
// right: quotes that a client left open must not swallow what a proxy has added behind them.
std::string_view take_last(std::string_view& text, char mark) {
    bool quoted = false;
    for (auto at = text.size(); at > 0; --at) {
        const char c = text[at - 1];
        if (c == '"' && !(quoted && at > 1 && text[at - 2] == '\\')) quoted = !quoted;
        if (c != mark || quoted) continue;
        const auto last = text.substr(at);
        text = text.substr(0, at - 1);
        return core::trimmed(last);
    }
    return core::trimmed(std::exchange(text, {}));
}

// RFC 7239, 6: "_hidden", "_gw4" or a number.
bool is_port(std::string_view port) {
    if (port.starts_with('_')) return port.size() > 1 && is_token(port);
    return !port.empty() && port.size() <= 5 && core::are_digits(port);
}

// The value of the only `for`, without quotes; nullopt: there is none or there are two, or the
// element is malformed.
std::optional<std::string> node_of(std::string_view element) {
    std::optional<std::string> node;
    while (!element.empty()) {
        const auto pair = take_last(element, ';');
        if (pair.empty()) continue;
        const auto equals = pair.find('=');
        if (equals == pair.npos || !is_token(pair.substr(0, equals))) return std::nullopt;
        auto value = pair.substr(equals + 1);
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
            value = value.substr(1, value.size() - 2);
        else if (!is_token(value))
            return std::nullopt;
        if (!core::same_without_case(pair.substr(0, equals), "for")) continue;
        if (node) return std::nullopt;
        node = value;
    }
    return node;
}

// The elements of all headers of a name as one list (RFC 9110, 5.3); nullopt: there is none.
std::optional<std::string> list_of(const std::vector<Header>& headers, std::string_view name) {
    std::optional<std::string> list;
    for (const auto& header : headers) {
        if (!core::same_without_case(header.name, name)) continue;
        list = list ? *list + ',' + header.value : header.value;
    }
    return list;
}

}  // namespace

std::optional<std::string> address_of_node(std::string_view node) {
    if (node.starts_with('[')) {
        const auto end = node.find(']');
        if (end == node.npos) return std::nullopt;
        const auto port = node.substr(end + 1);
        if (!port.empty() && (port.front() != ':' || !is_port(port.substr(1)))) return std::nullopt;
        return plain_address(node.substr(1, end - 1));
    }
    const auto colon = node.find(':');
    const bool has_port = colon != node.npos && node.find(':', colon + 1) == node.npos;
    if (has_port && !is_port(node.substr(colon + 1))) return std::nullopt;
    return plain_address(has_port ? node.substr(0, colon) : node);
}

std::optional<TrustedProxies::Network> TrustedProxies::parse(std::string_view text) {
    const auto slash = text.find('/');
    const auto plain = plain_address(text.substr(0, slash));
    if (!plain) return std::nullopt;
    const auto address = ip::make_address(*plain);
    const auto as_v6 =
        address.is_v4() ? ip::make_address_v6(ip::v4_mapped, address.to_v4()) : address.to_v6();
    Network network{.bytes = as_v6.to_bytes(), .bits = 128};
    if (slash == text.npos) return network;
    const auto digits = text.substr(slash + 1);
    const unsigned most = address.is_v4() ? 32 : 128;
    unsigned bits = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (failed != std::errc{} || end != digits.data() + digits.size() || bits < 1 || bits > most)
        return std::nullopt;
    network.bits = bits + 128 - most;
    return network;
}

TrustedProxies::TrustedProxies(const std::vector<std::string>& listed) {
    for (const auto& text : listed)
        if (const auto network = parse(text)) networks_.push_back(*network);
}

std::optional<std::string> TrustedProxies::problem(const std::vector<std::string>& listed) {
    for (const auto& text : listed)
        if (!parse(text))
            return "the trusted proxy \"" + text +
                   "\" is no address and no network: 10.0.0.5, 10.1.0.0/16 or 2001:db8::/32";
    return std::nullopt;
}

bool TrustedProxies::contains(std::string_view address) const {
    if (networks_.empty()) return false;
    const auto one = parse(address.substr(0, address.find('%')));
    return one && std::ranges::any_of(networks_, [&one](const Network& network) {
               const auto same = [&](unsigned bit) {
                   const auto differ = one->bytes.at(bit / 8) ^ network.bytes.at(bit / 8);
                   return (differ >> (7 - bit % 8) & 1) == 0;
               };
               for (unsigned bit = 0; bit < network.bits; ++bit)
                   if (!same(bit)) return false;
               return true;
           });
}

std::string TrustedProxies::client_address(
    const std::string& peer, const std::vector<Header>& headers
) const {
    if (!contains(peer)) return peer;
    const auto follow = [&](std::optional<std::string> list, bool pairs) {
        std::optional<std::string> found;  // nullopt: there is no such header.
        if (!list) return found;
        found = peer;
        for (std::string_view left = *list; !left.empty() && contains(*found);) {
            const auto element = take_last(left, ',');
            if (element.empty()) continue;
            const auto node = pairs ? node_of(element) : std::optional{std::string{element}};
            auto address = node ? address_of_node(*node) : std::nullopt;
            if (!address) break;
            found = std::move(address);
        }
        return found;
    };
    const auto forwarded = follow(list_of(headers, "Forwarded"), true);
    const auto others = follow(list_of(headers, "X-Forwarded-For"), false);
    if (forwarded && others && *forwarded != *others) return peer;
    return forwarded.value_or(others.value_or(peer));
}

}  // namespace pawl::http
