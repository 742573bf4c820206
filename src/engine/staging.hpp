#pragma once

namespace pawl::engine {

// Where a staged job goes with its transaction.
enum class Staging {
    as_job,       // Into the embedded queue: it is a job at once.
    to_be_pushed  // Among the staged jobs, which the enqueuer pushes to a queue outside.
};

}  // namespace pawl::engine
