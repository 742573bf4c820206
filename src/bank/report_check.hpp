#pragma once

#include <pawl/bank_file.hpp>

namespace pawl::bank {

// Makes the problem's text one that every database and terminal takes, and turns a report with a
// text that a database may refuse into a problem.
ReadReport checked(ReadReport read);

}  // namespace pawl::bank
