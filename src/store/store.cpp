#include "src/store/store.hpp"

namespace pawl::store {

std::exception_ptr stopped() {
    return std::make_exception_ptr(StoreError{
        StoreError::Kind::unavailable, StoreError::Effect::none, "", "the store is stopping"});
}

std::exception_ptr too_many_wait(std::size_t waiting_max) {
    return std::make_exception_ptr(StoreError{
        StoreError::Kind::busy,
        StoreError::Effect::none,
        "",
        "more than " + std::to_string(waiting_max) + " transactions wait already"});
}

}  // namespace pawl::store
