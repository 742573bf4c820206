#pragma once

#include <pawl/database.hpp>

#include <iosfwd>

// What `payouts files` and `payouts reports` print: one JSON object a line.
namespace payouts {

void show_files(pawl::Database& database, std::ostream& out);
void show_reports(pawl::Database& database, std::ostream& out);

}  // namespace payouts
