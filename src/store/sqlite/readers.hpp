#pragma once

#include "src/base/clock.hpp"
#include "src/store/sqlite/connection.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pawl::sqlite {

struct ReadersOptions {
    int threads{};              // For reads, each with its own connection.
    int lookup_connections{};   // For lookups on the calling threads.
    std::size_t waiting_max{};  // Queued reads, and lookups; more are refused (busy).
    // On the threads; lookups on a caller's thread do not wait.
    std::chrono::milliseconds busy_timeout{};
};

// The read-only connections. Reads and lookups do not wait for each other (issue 16, number 2):
// read() queues for the reader threads; lookup() runs one indexed statement on the calling thread
// if a lookup connection is free, else on a thread for lookups only. Thread-safe.
class Readers {
public:
    // The argument is how long the connection waits for another process' lock.
    using Open = std::function<std::unique_ptr<Connection>(std::chrono::milliseconds)>;
    // Throws StoreError if a connection can't be opened. The clock outlives the readers.
    Readers(const ReadersOptions& options, const Open& open, base::Clock& clock);
    ~Readers();
    Readers(const Readers&) = delete;
    Readers& operator=(const Readers&) = delete;

    // A read that has waited for as long as it may run is refused (busy), so that the queue behind
    // slow queries never grows older than that.
    void read(std::unique_ptr<store::Work> work);
    void lookup(std::unique_ptr<store::Lookup> lookup);
    // Finishes the queued works, then refuses new ones.
    void stop();
    // Connection::leave_log() of all connections. Call after stop().
    void leave_log();

private:
    struct Waiting {
        std::unique_ptr<store::Work> work;
        std::chrono::steady_clock::time_point since;
    };
    template <class T, class Make>
    std::exception_ptr push(std::deque<T>& to, Make make);
    std::unique_ptr<Connection> free_connection();
    void give_back(std::unique_ptr<Connection> connection);
    void run_reads(Connection& connection);
    void run_lookups(Connection& connection);
    void run(Connection& connection, Waiting waiting);
    std::exception_ptr run(Connection& connection, store::Lookup& lookup);
    bool look_at_once(store::Lookup& lookup);
    void queue(std::unique_ptr<store::Lookup> lookup);

    base::Clock& clock_;
    const std::size_t waiting_max_;

    std::mutex mutex_;
    std::condition_variable read_waits_;
    std::condition_variable lookup_waits_;
    std::deque<Waiting> reads_;
    std::deque<std::unique_ptr<store::Lookup>> lookups_;
    std::vector<std::unique_ptr<Connection>> free_;  // For lookups on the calling threads.
    bool stopping_{false};

    std::vector<std::unique_ptr<Connection>> connections_;  // One for each thread.
    std::mutex joining_;
    std::vector<std::thread> threads_;
};

}  // namespace pawl::sqlite
