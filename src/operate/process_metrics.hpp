#pragma once

#include "src/operate/gauges.hpp"

namespace pawl::operate {

// Adds the usual metrics of this process, as /proc/self has them now. What can't be read is left
// out.
void show_process(Gauges& to);

}  // namespace pawl::operate
