#include "src/base/in_transaction.hpp"

namespace pawl::base {

namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): per thread (I20).
thread_local int transactions_open = 0;

}  // namespace

bool in_transaction() {
    return transactions_open > 0;
}
void enter_transaction() {
    ++transactions_open;
}
void leave_transaction() {
    --transactions_open;
}

}  // namespace pawl::base
