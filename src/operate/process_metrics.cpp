#include "src/operate/process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace pawl::operate {

namespace {

double seconds(const timeval& time) {
    return double(time.tv_sec) + double(time.tv_usec) / 1e6;
}

}  // namespace

void show_process(Gauges& to) {
    rusage used{};
    if (::getrusage(RUSAGE_SELF, &used) == 0) {
        to.begin(
            "process_cpu_seconds_total", "CPU time of this process", prometheus::MetricType::Counter
        );
        to.add(seconds(used.ru_utime) + seconds(used.ru_stime));
    }
    std::uint64_t all = 0;
    std::uint64_t resident = 0;  // Both in pages: proc(5), statm.
    if (std::ifstream{"/proc/self/statm"} >> all >> resident)
        to.set(
            "process_resident_memory_bytes",
            "Memory of this process",
            double(resident) * double(::sysconf(_SC_PAGESIZE))
        );
    std::error_code failed;
    const std::filesystem::directory_iterator open{"/proc/self/fd", failed};
    if (!failed) {
        const auto count = std::distance(begin(open), end(open));
        to.set("process_open_fds", "Open file descriptors", double(count - 1));  // Its own.
    }
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
        to.set("process_max_fds", "How many there may be", double(limit.rlim_cur));
}

}  // namespace pawl::operate
