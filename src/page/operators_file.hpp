#pragma once

#include "src/page/operators.hpp"

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

namespace pawl::page {

// The operators as the file names them now: a change counts from the next request on, so a name
// that is removed is out at once. Thread-safe.
class OperatorsFile {
public:
    // Throws std::invalid_argument: it can't be read, others may read it, or it has an error.
    explicit OperatorsFile(std::string path);

    // A file that was changed and has an error is logged, and nobody is an operator until it is
    // right. Never nullptr.
    std::shared_ptr<const Operators> now();
    std::shared_ptr<const Operators> last_read();  // The same without a look at the file.

private:
    std::string path_;
    std::mutex mutex_;
    std::filesystem::file_time_type read_at_{};
    std::shared_ptr<const Operators> operators_;
};

}  // namespace pawl::page
