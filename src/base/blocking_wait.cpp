#include "src/base/blocking_wait.hpp"

namespace pawl::base {

CooperativeWait& while_waiting() {
    thread_local CooperativeWait others;
    return others;
}

}  // namespace pawl::base
