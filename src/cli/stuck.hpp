#pragma once

#include <pawl/service.hpp>

#include <ostream>

namespace pawl::cli {

// A program that knows no operation can't tell a stranded request from others.
enum class ShowStranded { yes, no };

// The requests that do not go on by themselves: the completer keeps failing at them, or this
// program does not know their recovery point. Oldest first. Throws StoreError.
void list_stuck_keys(
    Service& service, ShowStranded stranded, int limit, bool json, std::ostream& out
);

// The results of calls that wait to be recorded, because their keepers fail at them: by error, the
// most frequent first. Throws StoreError.
void list_unrecorded_results(Service& service, int limit, bool json, std::ostream& out);

}  // namespace pawl::cli
