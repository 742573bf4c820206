#include <pawl/locks.hpp>

#include "src/json/hash.hpp"
#include "src/locks/names.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace pawl {

namespace {

constexpr std::chrono::milliseconds wait_max = 24h;  // Longer than any deadline.

// The first part keeps our advisory locks apart from those of other programs and of the migrations.
std::int64_t number_of(std::string_view name) {
    json::Parts parts;
    const auto digest = json::sha256(parts.add("pawl.tx_lock").add(name).bytes());
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8U | digest[i];
    return static_cast<std::int64_t>(number);
}

// Checked on every store, so that a test on SQLite finds what would fail on PostgreSQL.
void check(const Tx& tx, std::string_view name) {
    locks::check_name("lock", name);
    if (tx.isolation() != Isolation::repeatable_read) return;
    throw std::logic_error{
        "pawl: tx_lock '" + std::string{name} +
        "' in a transaction of repeatable_read, which reads a snapshot from before the lock: "
        "give the operation `static constexpr pawl::Settings settings{.isolation = "
        "pawl::Isolation::read_committed}`"};
}

}  // namespace

void tx_lock(Tx& tx, std::string_view name, std::chrono::milliseconds wait) {
    check(tx, name);
    tx.session().lock_name(name, number_of(name), std::clamp(wait, 0ms, wait_max));
}

bool try_tx_lock(Tx& tx, std::string_view name) {
    check(tx, name);
    return tx.session().try_lock_name(number_of(name));
}

}  // namespace pawl
