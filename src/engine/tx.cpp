#include <pawl/call.hpp>
#include <pawl/tx.hpp>

#include "src/base/in_transaction.hpp"
#include "src/base/time_text.hpp"
#include "src/core/assert.hpp"
#include "src/engine/tx_factory.hpp"

#include <string>

namespace pawl {

Tx::Tx(detail::TxContext& context) : context_{context} {
    base::enter_transaction();
}

Tx::~Tx() {
    base::leave_transaction();
}

detail::Session& Tx::session() {
    return context_.session;
}

Call::Call(std::stop_token stop) : stop_{std::move(stop)} {
    PAWL_ASSERT(!base::in_transaction());
}

Call::~Call() {
    open_ = false;
}

void Call::assert_open() const {
    PAWL_ASSERT(open_);
    PAWL_ASSERT(!base::in_transaction());
}

Isolation Tx::isolation() const {
    return context_.isolation;
}

void Tx::reference(std::string_view name, std::string_view id) {
    if (context_.references != nullptr) context_.references->add(name, id);
}

std::size_t Tx::references() const {
    return context_.references != nullptr ? context_.references->size() : 0;
}

void Tx::keep_references(std::size_t first) noexcept {
    if (context_.references != nullptr) context_.references->keep_first(first);
}

namespace detail {

void throw_row_count(std::string_view statement, std::size_t rows) {
    throw StoreError{
        StoreError::Kind::statement,
        StoreError::Effect::none,
        statement,
        "statement " + std::string{statement} + " gave " + std::to_string(rows) +
            " rows where one was asked for"};
}

void throw_row_value(std::string_view statement, int column, std::string_view why) {
    throw StoreError{
        StoreError::Kind::statement,
        StoreError::Effect::none,
        statement,
        "statement " + std::string{statement} + ", column " + std::to_string(column) + ": " +
            std::string{why}};
}

void throw_parameter(std::string_view statement, std::string_view why) {
    throw StoreError{
        StoreError::Kind::statement,
        StoreError::Effect::none,
        statement,
        "statement " + std::string{statement} + " was given " + std::string{why}};
}

std::string text_of_time(TimePoint at) {
    return base::time_text(at);
}

TimePoint time_of_text(std::string_view text, std::string_view statement, int column) {
    const auto at = base::time_from_text(text);
    if (!at) throw_row_value(statement, column, "an invalid time");
    return *at;
}

}  // namespace detail
}  // namespace pawl
