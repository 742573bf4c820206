#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace pawl::cli {

// How far a long act is: a bar on a terminal, otherwise a line for each report.
class Progress {
public:
    // `done`: "retried". The stream outlives this object.
    Progress(std::ostream& error, std::int64_t total, std::string done);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(std::int64_t so_far);

private:
    std::ostream error_;
    const std::int64_t total_;
    const std::string done_;
    const bool terminal_;
    bool shown_{false};
};

// "[######........] 300 of 700 retried"; `so_far` is at most `total`, which is not 0.
std::string progress_bar(std::int64_t so_far, std::int64_t total, const std::string& done);

}  // namespace pawl::cli
