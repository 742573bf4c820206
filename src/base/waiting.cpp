#include "src/base/waiting.hpp"

namespace pawl::base {

Others& while_waiting() {
    thread_local Others others;
    return others;
}

}  // namespace pawl::base
