// Checks that the floor of jobs runs this server's statements: one job through a service, and one
// through the floor's C loop, each with SQLite's own trace.

#include "benchmarks/floor_jobs.h"

#include <pawl/database.hpp>
#include <pawl/service.hpp>

#include "benchmarks/trace.hpp"
#include "src/ops/service_impl.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pawl::bench {
namespace {

struct Noop {
    static constexpr std::string_view kind = "bench_noop";
    std::int64_t number{};
    bool poison{};
};
struct InTx {
    void work(Tx&, const Job<Noop>&) {}
};
struct InCall {
    void work(Call&, const Job<Noop>&) {}
};

class FloorJobs : public ::testing::Test {
protected:
    FloorJobs() { folder_ = ::mkdtemp(name_.data()); }
    ~FloorJobs() override { std::filesystem::remove_all(folder_); }
    std::string file() const { return folder_ + "/jobs.db"; }

    // Removes the worker's polls for jobs and paused queues, which a floor does not need.
    static std::vector<std::string> without_looks(std::vector<std::string> statements) {
        std::erase_if(statements, [](const std::string& text) {
            return text.starts_with("SELECT since.key") ||
                   text.find("pawl_paused_queues") != text.npos;
        });
        return statements;
    }

    template <class Handler>
    std::vector<std::string> by_service() {
        auto database = Database::open("sqlite:" + file());
        Service service{*database};
        service.add(Handler{});
        // Not started: no completer or reaper runs statements of its own.
        take_trace();
        database->write([](Tx& tx) { tx.stage(Noop{.number = 1}); });
        EXPECT_EQ(service.impl().first_tries().run_once(1).done, 1);
        return without_looks(take_trace());
    }

    std::vector<std::string> by_floor(bool calls) {
        auto* f = floor_jobs_open(file().c_str());
        take_trace();
        floor_jobs_begin(f);
        floor_jobs_stage(f, 1);
        EXPECT_EQ(floor_jobs_claim(f, 10), 1);
        if (calls) floor_jobs_mark(f, 0);
        floor_jobs_finish(f, 0);
        floor_jobs_commit(f);
        auto statements = take_trace();
        floor_jobs_close(f);
        return statements;
    }

    const Tracing tracing_;
    std::string name_{"/tmp/pawl_floor_XXXXXX"};
    std::string folder_;
};

TEST_F(FloorJobs, runs_the_statements_of_a_job_in_a_transaction_in_order) {
    const auto of_service = by_service<InTx>();

    EXPECT_EQ(of_service.size(), 3);
    EXPECT_EQ(by_floor(false), of_service);
}

TEST_F(FloorJobs, runs_the_statements_of_a_job_that_calls_in_order) {
    const auto of_service = by_service<InCall>();

    EXPECT_EQ(of_service.size(), 4);
    EXPECT_EQ(by_floor(true), of_service);
}

}  // namespace
}  // namespace pawl::bench
