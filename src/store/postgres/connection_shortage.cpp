#include "src/store/postgres/connection_shortage.hpp"

#include <string>
#include <utility>

namespace pawl::postgres {

namespace {

constexpr std::string_view event = "database_connections";
constexpr std::string_view code = "PAWL0010";
constexpr std::chrono::seconds stands{1};
// In libpq's text if the server refused the connection. If it is merely unreachable, some
// connections may not have noticed yet and still count.
constexpr std::string_view by_the_server = "FATAL";

}  // namespace

std::optional<base::Warning> ConnectionShortage::refused(
    int connected, std::string_view why, Moment now
) {
    if (why.find(by_the_server) == why.npos) {
        counted_ = none_yet;
        return std::nullopt;
    }
    if (std::exchange(counted_, connected) != connected) since_ = now;
    if (connected == 0 || connected == reported_ || now - since_ < stands) return std::nullopt;
    reported_ = connected;
    const auto got = std::to_string(connected);
    return base::Warning{
        event,
        code,
        "the database lets the store have " + got + " of " + std::to_string(wanted_) +
            " connections: raise max_connections (or the limit of the role or the database), or "
            "set connections=" +
            got + " in the URL. The last refusal: " + std::string{why}};
}

std::optional<base::Warning> ConnectionShortage::opened(int connected) {
    counted_ = none_yet;
    if (connected < wanted_ || std::exchange(reported_, 0) == 0) return std::nullopt;
    return base::Warning{
        event, code, "all " + std::to_string(wanted_) + " connections are there now"};
}

}  // namespace pawl::postgres
