#include <pawl/lease.hpp>
#include <pawl/tx.hpp>

#include "src/locks/names.hpp"
#include "store/statements.hpp"

#include <stdexcept>
#include <string>

namespace pawl {

FencingToken FencingToken::received(std::string name, std::int64_t epoch) {
    locks::check_name("fence", name);
    if (epoch < 1)
        throw std::invalid_argument{
            "pawl: the fence '" + name + "' has the epoch " + std::to_string(epoch) +
            ": that of a lease is 1 or more"};
    return {std::move(name), epoch};
}

StaleFencingToken::StaleFencingToken(const FencingToken& fence, std::int64_t seen)
    : std::runtime_error{"pawl: the fence '" + fence.name() + "' of epoch " +
                         std::to_string(fence.epoch()) + " is too old: epoch " +
                         std::to_string(seen) +
                         " has written here, so its lease was lost; acquire the lease again, and read "
                         "the current state"},
      epoch_{fence.epoch()},
      seen_{seen} {}

void check_fencing_token(Tx& tx, const FencingToken& fence) {
    const auto passed = detail::execute_statement(
        tx.session(), sql::record_fencing_token, fence.name(), fence.epoch()
    );
    if (passed != 0) return;
    std::int64_t seen = 0;
    detail::run_statement(
        tx.session(),
        sql::find_fencing_token,
        [&](const detail::Row& row) { seen = row.integer(0); },
        fence.name()
    );
    throw StaleFencingToken{fence, seen};
}

}  // namespace pawl
