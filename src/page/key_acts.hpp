#pragma once

#include "src/page/acts.hpp"

namespace pawl::page {

Done retry_key(const Asked& asked);
Done hold_key(const Asked& asked);
Done release_key(const Asked& asked);
// Without the field `confirmed` it only shows what will be done.
Done settle(const Asked& asked);
Done undo(const Asked& asked);

}  // namespace pawl::page
