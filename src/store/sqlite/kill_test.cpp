#include "src/store/sqlite/sqlite_store.hpp"
#include "tests/conformance/store_world.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <set>
#include <thread>

// kill -9 of a writing process: everything that it was told is committed is there.
namespace pawl::sqlite {

namespace {

using namespace conformance;

constexpr int writers = 4;

// Runs in the child: writes forever, and reports each commit by one write(), so that no line is
// torn.
[[noreturn]] void write_for_ever(const std::string& path, int answers) {
    HandClock clock;
    SqliteStore store{{.path = path}, clock};
    std::vector<std::thread> crowd;
    for (int w = 0; w < writers; ++w)
        crowd.emplace_back([&, w] {
            for (int i = 0;; ++i) {
                const auto text = std::to_string(w) + "-" + std::to_string(i);
                write_one(store, notes::insert, text);
                const auto line = text + "\n";
                if (::write(answers, line.data(), line.size()) < 0) ::_exit(1);
            }
        });
    for (auto& thread : crowd) thread.join();
    ::_exit(1);
}

// Kills the child after `after` reports; returns all reports in the pipe.
std::set<std::string> killed_after(int after, const std::string& path) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) throw std::runtime_error{"no pipe"};
    const auto child = ::fork();
    if (child == 0) {
        ::close(pipe[0]);
        write_for_ever(path, pipe[1]);
    }
    ::close(pipe[1]);
    std::set<std::string> answered;
    std::string line;
    bool killed = false;
    for (char c = 0; ::read(pipe[0], &c, 1) == 1;) {
        if (c != '\n') {
            line += c;
            continue;
        }
        answered.insert(std::exchange(line, {}));
        if (killed || static_cast<int>(answered.size()) < after) continue;
        ::kill(child, SIGKILL);
        killed = true;
    }
    ::close(pipe[0]);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(killed) << "it ended by itself after " << answered.size() << " answers";
    return answered;
}

}  // namespace

TEST(KillTest, acknowledged_commits_survive_and_the_file_is_free_and_intact) {
    const Folder folder;
    const auto path = folder.file("test.db");
    HandClock clock;
    {
        SqliteStore store{{.path = path}, clock};
        write_one(store, notes::create);
    }

    std::set<std::string> answered;
    for (const int after : {1, 40, 200}) {
        answered.merge(killed_after(after, path));

        SqliteStore next{{.path = path}, clock};
        const auto texts = read_rows<std::string>(next, notes::texts);
        const std::set<std::string> found{texts.begin(), texts.end()};
        for (const auto& text : answered) EXPECT_TRUE(found.contains(text)) << text;
        EXPECT_LE(found.size(), answered.size() + 3 * writers) << "each had one more in its hands";
        constexpr Sql empty{"empty", "DELETE FROM notes", {}};
        write_one(next, empty);
        answered.clear();
    }
}

}  // namespace pawl::sqlite
