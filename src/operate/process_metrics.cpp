#include "src/operate/process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
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
    if (std::ifstream{"/proc/self/statm"} >> all >> resident) {
        const auto page = double(::sysconf(_SC_PAGESIZE));
        to.set("process_virtual_memory_bytes", "Address space in use", double(all) * page);
        to.set("process_resident_memory_bytes", "Memory of this process", double(resident) * page);
    }
    std::error_code failed;
    std::filesystem::directory_iterator open{"/proc/self/fd", failed};
    int count = -1;  // Without the iterator's own.
    for (; !failed && open != std::filesystem::directory_iterator{}; open.increment(failed))
        ++count;
    if (!failed) to.set("process_open_fds", "Open file descriptors", count);
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
        to.set("process_max_fds", "How many there may be", double(limit.rlim_cur));
}

}  // namespace pawl::operate
