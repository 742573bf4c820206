#include "src/cli/progress.hpp"

#include "src/cli/output.hpp"

#include <utility>

namespace pawl::cli {

namespace {

constexpr std::int64_t width = 30;

}  // namespace

std::string progress_bar(std::int64_t so_far, std::int64_t total, const std::string& done) {
    const auto full = static_cast<std::size_t>(so_far * width / total);
    return '[' + std::string(full, '#') + std::string(width - full, '.') + "] " +
           std::to_string(so_far) + " of " + std::to_string(total) + ' ' + done;
}

Progress::Progress(std::ostream& error, std::int64_t total, std::string done)
    : error_{raw_buffer(error)},
      total_{total},
      done_{std::move(done)},
      terminal_{is_terminal(error)} {}

Progress::~Progress() {
    if (terminal_ && shown_) error_ << '\n' << std::flush;
}

void Progress::show(std::int64_t so_far) {
    shown_ = true;
    if (terminal_)
        error_ << '\r' << progress_bar(so_far, total_, done_) << std::flush;
    else
        error_ << so_far << " of " << total_ << ' ' << done_ << '\n' << std::flush;
}

}  // namespace pawl::cli
