#pragma once

#include "src/base/clock.hpp"
#include "src/base/warning.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace pawl::sqlite {

using namespace std::chrono_literals;

struct SqliteOptions {
    std::string path;                            // ":memory:" for tests: one connection serves all.
    bool owner{true};                            // false: a tool beside a running server.
    std::size_t waiting_max{20'000};             // Queued works; more are refused (busy).
    std::size_t batch_max{1'000};                // Works in one commit.
    std::chrono::milliseconds busy_timeout{5s};  // For the short writes of tools.
    int readers{4};                              // Threads for reads.
    std::size_t reads_waiting_max{1'000};        // Reads in the queue; more are refused (busy).
    std::optional<std::string> problem() const;
};

// WAL, synchronous=FULL. One writer thread takes the works that wait, runs each in its own
// savepoint, commits once, and only then releases the answers: group commit. Reads run on reader
// threads, lookups on the calling thread if a connection is free (readers.hpp). ":memory:" has one
// connection for all: there both wait for it on the calling thread.
class SqliteStore final : public store::Store {
public:
    // Throws StoreError: the file can't be opened, is no database, is owned by another process
    // (PAWL0002), or another file's write-ahead log is beside it (PAWL0016). `on_warning` is called
    // if the file is removed or replaced while open; from then on the store refuses all work.
    SqliteStore(SqliteOptions options, base::Clock& clock, base::OnWarning on_warning = {});
    ~SqliteStore() override;

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override;
    void read(std::unique_ptr<store::Work> work) override;
    void lookup(std::unique_ptr<store::Lookup> lookup) override;
    std::string_view text_of(const Sql& statement) const override { return statement.sqlite; }
    std::string file() const override;
    void stop() override;

    store::StoreStats stats() const override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::sqlite
