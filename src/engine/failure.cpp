#include "src/engine/failure.hpp"

#include <pawl/error.hpp>

#include <new>

namespace pawl::engine {

namespace {

Reason reason_of(StoreError::Kind kind) {
    switch (kind) {
        case StoreError::Kind::contention:
        case StoreError::Kind::locked:
            return Reason::contention;
        case StoreError::Kind::deadline:
            return Reason::phase_deadline;
        case StoreError::Kind::busy:
            return Reason::overloaded;
        case StoreError::Kind::unavailable:
        case StoreError::Kind::full:
        case StoreError::Kind::read_only:
            return Reason::store_unavailable;
        case StoreError::Kind::constraint:
        case StoreError::Kind::statement:
        case StoreError::Kind::refused:
        case StoreError::Kind::fenced:
            break;
    }
    return Reason::internal;
}

}  // namespace

Failure failure_of(const std::exception_ptr& failed) {
    try {
        std::rethrow_exception(failed);
    } catch (const StoreError& error) {
        return {
            error.transient(),
            Rejection{.reason = reason_of(error.kind()), .detail = error.what()}};
    } catch (const std::bad_alloc&) {  // Not caused by the request.
        return {true, Rejection{.reason = Reason::overloaded, .detail = "out of memory"}};
    } catch (const std::exception& error) {
        return {false, Rejection{.reason = Reason::internal, .detail = error.what()}};
    } catch (...) {
        return {
            false,
            Rejection{
                .reason = Reason::internal, .detail = "an exception that is not a std::exception"}};
    }
}

}  // namespace pawl::engine
