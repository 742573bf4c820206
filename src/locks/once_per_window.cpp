#include <pawl/once_per_window.hpp>

#include "src/json/hash.hpp"
#include "src/locks/names.hpp"
#include "store/statements.hpp"

#include <stdexcept>
#include <string>

namespace pawl {

namespace {

constexpr std::chrono::milliseconds longest_window = 24h;
constexpr std::size_t result_max = 64 * 1024;

// A window that ends later was written by a wrong clock.
constexpr auto bound = 2 * longest_window;

std::string hash_of(std::string_view action, const Principal& who, std::string_view about) {
    json::Parts parts;
    parts.add("pawl.once").add(who.tenant).add(who.account).add(action).add(about);
    return json::short_hash(parts);
}

}  // namespace

OncePerWindow::Place OncePerWindow::open(Tx& tx, const Principal& who, std::string_view about)
    const {
    locks::check_name("once-per-window action", action);
    if (window < 1ms || window > longest_window)
        throw std::invalid_argument{
            "pawl: the window of '" + std::string{action} + "' is " +
            std::to_string(window.count()) + " ms: 1 ms to " +
            std::to_string(longest_window.count()) + " ms"};
    Place place{hash_of(action, who, about), false, {}};
    const auto now = tx.now();
    const auto opened = detail::execute_statement(
        tx.session(), sql::open_window, place.hash, now, now + window, now + bound
    );
    place.first = opened != 0;
    if (!place.first)
        detail::run_statement(
            tx.session(),
            sql::find_window,
            [&](const detail::Row& row) { place.result = row.text(0); },
            place.hash
        );
    return place;
}

void OncePerWindow::store(Tx& tx, const Place& place, const std::string& result) const {
    if (result.size() > result_max)
        throw std::invalid_argument{
            "pawl: what '" + std::string{action} + "' stores for its window has " +
            std::to_string(result.size()) + " bytes of JSON: at most " +
            std::to_string(result_max) + "; store an id"};
    detail::send_statement(tx.session(), sql::set_window_result, place.hash, result);
}

// After f threw, a caller may catch the exception and commit: then there is no result to replay.
void OncePerWindow::close(Tx& tx, const Place& place) noexcept {
    try {
        detail::execute_statement(tx.session(), sql::close_window, place.hash);
        // Then the transaction can only be rolled back, and the window with it.
    } catch (const std::exception&) {
    }
}

void OncePerWindow::throw_of_another_type(std::string_view why) const {
    throw std::runtime_error{
        "pawl: what the first '" + std::string{action} +
        "' of this window stored is of another type: " + std::string{why}};
}

}  // namespace pawl
