#include "src/core/waiting.hpp"

namespace pawl::core {

Others& while_waiting() {
    thread_local Others others;
    return others;
}

}  // namespace pawl::core
