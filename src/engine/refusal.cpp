#include "src/engine/refusal.hpp"

#include <pawl/error.hpp>

#include <new>

namespace pawl::engine {

namespace {

Why why_of(StoreError::Kind kind) {
    switch (kind) {
        case StoreError::Kind::contention:
        case StoreError::Kind::locked:
            return Why::contention;
        case StoreError::Kind::deadline:
            return Why::phase_deadline;
        case StoreError::Kind::busy:
            return Why::overloaded;
        case StoreError::Kind::unavailable:
        case StoreError::Kind::full:
        case StoreError::Kind::read_only:
            return Why::store_unavailable;
        case StoreError::Kind::constraint:
        case StoreError::Kind::statement:
        case StoreError::Kind::refused:
        case StoreError::Kind::fenced:
            break;
    }
    return Why::internal;
}

}  // namespace

Failure failure_of(const std::exception_ptr& failed) {
    try {
        std::rethrow_exception(failed);
    } catch (const StoreError& error) {
        return {error.passing(), Refused{.why = why_of(error.kind()), .detail = error.what()}};
    } catch (const std::bad_alloc&) {  // Not caused by the request.
        return {true, Refused{.why = Why::overloaded, .detail = "out of memory"}};
    } catch (const std::exception& error) {
        return {false, Refused{.why = Why::internal, .detail = error.what()}};
    } catch (...) {
        return {
            false,
            Refused{.why = Why::internal, .detail = "an exception that is no std::exception"}};
    }
}

}  // namespace pawl::engine
