#include <pawl/error.hpp>

#include <utility>

namespace pawl {

StoreError::StoreError(Kind kind, Effect effect, std::string_view statement, std::string text)
    : kind_{kind}, effect_{effect}, statement_{statement}, text_{std::move(text)} {}

bool StoreError::safe_to_repeat() const noexcept {
    return transient() && effect_ != Effect::in_doubt;
}

bool StoreError::transient() const noexcept {
    switch (kind_) {
        case Kind::unavailable:
        case Kind::full:
        case Kind::read_only:
        case Kind::busy:
        case Kind::locked:
        case Kind::contention:
        case Kind::deadline:
            return true;
        case Kind::constraint:
        case Kind::statement:
        case Kind::refused:
        case Kind::fenced:
            break;
    }
    return false;
}

}  // namespace pawl
