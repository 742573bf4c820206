#pragma once

#include "src/operate/gauges.hpp"

namespace pawl::operate {

// Adds what every Prometheus client says of its process, as /proc/self has it now. What can't be
// read is left out.
void show_process(Gauges& to);

}  // namespace pawl::operate
