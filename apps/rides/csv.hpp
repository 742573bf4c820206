#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace rides {

// One line of CSV (RFC 4180), in UTF-8. A cell that a spreadsheet would take for a formula gets an
// apostrophe in front: providers' texts are not ours.
void print_csv(std::ostream& out, const std::vector<std::string>& cells);

}  // namespace rides
