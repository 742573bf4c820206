#include "src/cli/top/top.hpp"

#include "src/base/error_text.hpp"
#include "src/base/time_text.hpp"
#include "src/cli/output.hpp"
#include "src/cli/top/screen.hpp"
#include "src/cli/top/snapshot.hpp"
#include "src/cli/top/terminal.hpp"
#include "src/engine/engine.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds refresh_every = 2s;
// A database that answers slowly is asked for a fifth of the time.
constexpr int read_share = 5;
constexpr int of_a_signal = 128;  // The exit code after a signal, as of a shell.

boost::json::object object_of_snapshot(const Snapshot& now) {
    const auto rows = [](const auto& lines) {
        boost::json::array array;
        for (const auto& line : lines) array.push_back(object_of(line));
        return array;
    };
    boost::json::array attention;
    for (const auto& reason : now.attention)
        attention.push_back(
            {{"reason", reason.reason},
             {"count", reason.count},
             {"since", base::time_text(reason.since)}}
        );
    boost::json::array retries;
    for (const auto& layer : now.retries)
        retries.push_back(
            {{"layer", layer.failures},
             {"count", layer.count},
             {"next", base::time_text(layer.next)}}
        );
    return {
        {"at", base::time_text(now.at)},
        {"open", now.open},
        {"oldest_open", json_of(text_of_time(now.oldest_open))},
        {"stuck", now.stuck},
        {"held", now.held},
        {"unrecorded", now.unrecorded},
        {"stranded", json_of(now.stranded)},
        {"attention", std::move(attention)},
        {"retries", std::move(retries)},
        {"queues", rows(now.queues.rows)},
        {"providers", rows(now.providers)},
        {"servers", rows(now.servers)}};
}

void show_once(Run& run) {
    const auto now = read_snapshot(run.open(), run.line.knows_operations, std::nullopt);
    if (run.json) return print_json(run.out, object_of_snapshot(now));
    run.out << base::time_text(now.at) << '\n';
    for (const auto& line : lines_of(now, nullptr)) run.out << line << '\n';
}

// What is on the screen: the last two snapshots, or why there is no newer one.
class Live {
public:
    explicit Live(Run& run) : run_{run}, service_{run.open()}, terminal_{signals_, run.out} {}

    // Returns the exit code.
    int show() {
        auto& clock = service_.engine().clock();
        while (true) {
            const auto began = clock.steady();
            read();
            const auto read_at = clock.steady();
            const auto took = std::chrono::ceil<milliseconds>(read_at - began);
            if (!wait_until(read_at + std::max(refresh_every, (read_share - 1) * took))) break;
        }
        return terminal_.signal() == 0 ? 0 : of_a_signal + terminal_.signal();
    }

private:
    void read() {
        try {
            const auto before = now_ ? std::optional{now_->at} : std::nullopt;
            auto found = read_snapshot(service_, run_.line.knows_operations, before);
            before_ = std::exchange(now_, std::move(found));
            trouble_.clear();
            lines_ = lines_of(*now_, before_ ? &*before_ : nullptr);
        } catch (const StoreError& error) {
            trouble_ = base::sanitized_error(error.what());
        }
    }
    void draw() {
        const auto rows = terminal_.size().rows;
        const auto last = lines_.size() < rows ? 0 : lines_.size() - rows + 1;
        first_ = std::min(first_, last);
        const std::vector<std::string> from{
            lines_.begin() + static_cast<std::ptrdiff_t>(first_), lines_.end()};
        const auto at = now_ ? base::time_text(now_->at) : std::string{"-"};
        terminal_.draw(
            from,
            trouble_.empty() ? run_.line.program + " top  " + at + "  q quits, arrows scroll"
                             : "not read since " + at + ": " + trouble_
        );
    }
    // False: the person or a signal ends it.
    bool wait_until(std::chrono::steady_clock::time_point until) {
        auto& clock = service_.engine().clock();
        draw();
        for (auto now = clock.steady(); now < until; now = clock.steady()) {
            const auto input = terminal_.wait(std::chrono::ceil<milliseconds>(until - now));
            if (input == Terminal::Input::none) continue;
            if (input == Terminal::Input::quit) return false;
            if (input == Terminal::Input::down) ++first_;
            if (input == Terminal::Input::up && first_ > 0) --first_;
            draw();
        }
        return true;
    }

    Run& run_;
    Signals signals_;
    Service& service_;
    Terminal terminal_;
    std::optional<Snapshot> before_;
    std::optional<Snapshot> now_;
    std::vector<std::string> lines_;
    std::size_t first_{0};  // The first line that is shown.
    std::string trouble_;
};

void top(Run& run) {
    if (run.once || run.json) return show_once(run);
    if (!is_terminal(run.out))
        throw UsageError{"top needs a terminal; --once prints one screen, --json one document"};
    run.status = Live{run}.show();
}

}  // namespace

void add_top(CLI::App& app, Run& run) {
    constexpr auto text =
        "The state of the database, live on a terminal: keys, attention, queues, providers, "
        "servers. Reads refresh_every 2 s; q quits, the arrows scroll";
    command(app, run, "top", text, &top)->add_flag("--once", run.once, "Print one screen and end");
}

}  // namespace pawl::cli
