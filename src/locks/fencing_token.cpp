#include <pawl/lease.hpp>
#include <pawl/tx.hpp>

#include "src/locks/names.hpp"
#include "store/statements.hpp"

#include <stdexcept>
#include <string>

namespace pawl {

FencingToken FencingToken::received(std::string name, std::int64_t epoch) {
    locks::check_name("fencing token", name);
    if (epoch < 1)
        throw std::invalid_argument{
            "pawl: the fencing token '" + name + "' has the epoch " + std::to_string(epoch) +
            ": that of a lease is 1 or more"};
    return {std::move(name), epoch};
}

StaleFencingToken::StaleFencingToken(const FencingToken& token, std::int64_t seen)
    : std::runtime_error{"pawl: the fencing token '" + token.name() + "' of epoch " +
                         std::to_string(token.epoch()) + " is too old: epoch " +
                         std::to_string(seen) +
                         " has written here, so its lease was lost; acquire the lease again, and read "
                         "the current state"},
      epoch_{token.epoch()},
      seen_{seen} {}

void check_fencing_token(Tx& tx, const FencingToken& token) {
    const auto passed = detail::execute_statement(
        tx.session(), sql::record_fencing_token, token.name(), token.epoch()
    );
    if (passed != 0) return;
    const auto seen =
        detail::read_row(tx.session(), sql::find_fencing_token, detail::first_number, token.name());
    throw StaleFencingToken{token, seen.value_or(0)};
}

}  // namespace pawl
