#pragma once

namespace pawl::engine {

// Where a staged job is written.
enum class Staging {
    as_job,       // Into the embedded queue: it may run after the commit.
    to_be_pushed  // Into the staged jobs, which the enqueuer pushes to an external queue.
};

}  // namespace pawl::engine
