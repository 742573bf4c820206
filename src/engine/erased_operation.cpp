#include <pawl/detail/erased_operation.hpp>

namespace pawl::detail {

std::optional<std::size_t> ErasedOperation::step_from(std::string_view stored) const {
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (steps[i].from == stored) return i;
    for (const auto& [old, step] : renamed)
        if (old == stored) return step;
    return std::nullopt;
}

}  // namespace pawl::detail
