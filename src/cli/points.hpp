#pragma once

#include <pawl/service.hpp>

#include <boost/json/value.hpp>

#include <ostream>
#include <string>
#include <vector>

// The formats on disk of a service: the names and fields of requests, recovery points, results of
// calls and jobs, as JSON Schema. A release keeps them in a file, and the next one is compared
// with it.
namespace pawl::cli {

boost::json::value points_of(Service& service);

// Why rows that a server of `released` has written could not be read by one of `now`: an operation,
// a point, a job or a field is gone, has another type, or must be there and was not. A point may
// have a new name (RenamedPoints), and be Removed. Empty: all can be read. Throws
// boost::system::system_error: one of them is not what points_of() makes.
std::vector<std::string> broken_points(
    const boost::json::value& released, const boost::json::value& now
);

// `points`: prints them; with a file, compares with what was released, and throws CommandFailed if
// anything is broken, or UsageError if the file can't be read.
void print_points(Service& service, const std::string& released_file, std::ostream& out);

}  // namespace pawl::cli
