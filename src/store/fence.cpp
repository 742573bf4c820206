#include "src/store/store.hpp"

// A fence is a write whose WHERE names what its writer holds: for a request `id, attempt,
// recovery_point`, for a job its id and claim. If it touches no row, another holder has taken over,
// and the transaction is rolled back. The statements are in src/store/sql/keys.sql and jobs.sql.
namespace pawl {

void detail::Session::fence(const Sql& statement, std::span<const Value> parameters) {
    if (run(statement, parameters, [](const Row&) {}) == 0) throw store::fence_lost(statement.name);
}

}  // namespace pawl

namespace pawl::store {

StoreError fence_lost(std::string_view statement) {
    return {
        StoreError::Kind::fenced,
        StoreError::Effect::rolled_back,
        statement,
        "the fence " + std::string{statement} + " touched no row: the lease is lost"};
}

}  // namespace pawl::store
