#include "src/core/waiting.hpp"

namespace pawl::core {

std::function<void()>& while_waiting() {
    thread_local std::function<void()> others;
    return others;
}

}  // namespace pawl::core
